// Finds the names of functions at addresses of this process, without tools or debug information.
//
// Purpose: the names that profiles print. Functions of the program come from its symbol table in
// the file, those of shared libraries from their dynamic symbols.
// Threads: one.
// Memory: 24 bytes a function and the file's string table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

class SymbolTable {
 public:
  // Reads this program's symbols. The table is empty where the file is unreadable or stripped.
  SymbolTable();

  // The function at the address, demangled and shortened. Where no symbol covers the address, the
  // name of its library or "unknown".
  std::string FunctionAt(uintptr_t address) const;

 private:
  struct Symbol {
    uintptr_t address;
    uintptr_t size;
    uint32_t name;  // The start of the name in names_.
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
