// From addresses of this process to names of functions, without tools or debug information.
//
// Purpose: the names that profiles print. Functions of the program come from its symbol table in
// the file, those of shared libraries from their dynamic symbols.
// Threads: one thread builds and asks.
// Memory: 24 bytes a function and the file's string table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

class SymbolTable {
 public:
  // Of this program. Empty where the file cannot be read or was stripped.
  SymbolTable();

  // The function that holds the address, demangled and shortened; its library or "unknown" when no
  // symbol covers it.
  std::string FunctionAt(uintptr_t address) const;

 private:
  struct Symbol {
    uintptr_t address;
    uintptr_t size;
    uint32_t name;  // Where it starts in names_.
  };

  void ReadProgram(std::string_view file);

  uintptr_t program_base_ = 0;
  std::string names_;
  std::vector<Symbol> symbols_;  // By address.
};

// "schedq::LockfreeQueue<...>::Event" for
// "void schedq::LockfreeQueue<std::atomic>::Event(schedq::ClusterEvent const&)".
std::string ShortFunctionName(std::string_view demangled);

}  // namespace schedq
