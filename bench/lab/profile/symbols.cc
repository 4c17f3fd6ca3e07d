#include "bench/lab/profile/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>

#include "engine/base/result.h"
#include "perf/files/file_io.h"

namespace schedq {
namespace {

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? ShortFunctionName(text.get()) : name;
}

// The program is the first object that the loader reports.
uintptr_t ProgramBase() {
  uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        *static_cast<uintptr_t*>(result) = info->dlpi_addr;
        return 1;
      },
      &base);
  return base;
}

// Reads `count` objects at `offset` of the file; empty when the file is too short.
template <typename T>
std::vector<T> ReadArray(std::string_view file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {};
  std::vector<T> objects(count);
  std::memcpy(objects.data(), file.data() + offset, count * sizeof(T));
  return objects;
}

// Copies `text` without the parts between brackets of one kind, which may nest.
std::string WithoutTemplateArguments(std::string_view text) {
  std::string kept;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    // The signs of operator<, operator<<, operator-> and the like are no brackets.
    const bool is_operator = kept.size() >= 8 && kept.ends_with("operator");
    if (!is_operator && text[i] == '<' && depth++ == 0) kept += "<...>";
    if (depth == 0) kept += text[i];
    if (!is_operator && text[i] == '>' && depth > 0) --depth;
  }
  return kept;
}

}  // namespace

std::string ShortFunctionName(std::string_view demangled) {
  std::string name = WithoutTemplateArguments(demangled);
  const std::string_view anonymous = "(anonymous namespace)";
  for (size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous)) {
    name.replace(at, anonymous.size(), "{anonymous}");
  }
  // The parameters start at the first bracket that is not part of operator().
  size_t parameters = name.find('(');
  if (parameters != std::string::npos && name.substr(0, parameters).ends_with("operator")) {
    parameters = name.find('(', parameters + 1);
  }
  if (parameters != std::string::npos) name.resize(parameters);
  // The return type ends at the last blank, but "operator bool" is a name.
  const size_t blank = name.rfind(' ');
  const bool is_conversion =
      blank != std::string::npos && name.substr(0, blank).ends_with("operator");
  return blank == std::string::npos || is_conversion ? name : name.substr(blank + 1);
}

SymbolTable::SymbolTable() : program_base_(ProgramBase()) {
  std::error_code ignored;
  const std::string path = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const Result<std::string> file = ReadWholeFile(path);
  if (file.ok()) ReadProgram(*file);
}

void SymbolTable::ReadProgram(std::string_view file) {
  const auto headers = ReadArray<ElfW(Ehdr)>(file, 0, 1);
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto sections = ReadArray<ElfW(Shdr)>(file, headers[0].e_shoff, headers[0].e_shnum);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& strings = sections[section.sh_link];
    const auto text = ReadArray<char>(file, strings.sh_offset, strings.sh_size);
    names_.assign(text.begin(), text.end());
    for (const ElfW(Sym) & symbol :
         ReadArray<ElfW(Sym)>(file, section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
      // The type's place in st_info is the same in both widths of ELF.
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (!is_function || symbol.st_value == 0 || symbol.st_name >= names_.size()) continue;
      symbols_.push_back({symbol.st_value, symbol.st_size, symbol.st_name});
    }
  }
  std::sort(symbols_.begin(), symbols_.end(),
            [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

std::string SymbolTable::FunctionAt(uintptr_t address) const {
  const uintptr_t in_file = address - program_base_;
  const auto after = std::upper_bound(
      symbols_.begin(), symbols_.end(), in_file,
      [](uintptr_t wanted, const Symbol& symbol) { return wanted < symbol.address; });
  if (after != symbols_.begin()) {
    const Symbol& symbol = *std::prev(after);
    if (in_file < symbol.address + symbol.size) return Demangled(names_.c_str() + symbol.name);
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0) return "unknown";
  if (info.dli_sname != nullptr) return Demangled(info.dli_sname);
  if (info.dli_fname == nullptr) return "unknown";
  return "in " + std::filesystem::path(info.dli_fname).filename().string();
}

}  // namespace schedq
