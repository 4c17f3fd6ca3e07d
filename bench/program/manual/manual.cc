#include "bench/program/manual/manual.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include "bench/program/usage_error.h"

namespace schedq {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool IsChoice(const std::string& word) {
  return !word.empty() && std::none_of(word.begin(), word.end(), [](char letter) {
    return (letter >= 'A' && letter <= 'Z') || letter == '.' || letter == ',';
  });
}

// "TEXT:{table,json}" is "table|json", "N:UINT in [1 - 1000]" is "N".
std::string ValueOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t brace = type.find(":{");
  if (brace == std::string::npos) return type.substr(0, type.find(':'));
  std::string list = type.substr(brace + 2, type.find('}', brace) - brace - 2);
  std::replace(list.begin(), list.end(), ',', '|');
  return list;
}

ManualFlag FlagOf(const CLI::Option& option) {
  ManualFlag flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  if (option.get_positional()) flag.names = {option.get_name(true, false)};
  if (option.get_items_expected_max() > 0) flag.value = ValueOf(option);
  const std::vector<std::string> values = Split(flag.value, '|');
  if (values.size() > 1) {
    std::copy_if(values.begin(), values.end(), std::back_inserter(flag.choices), IsChoice);
  }
  flag.about = option.get_description();
  flag.standard = option.get_default_str();
  flag.is_required = option.get_required();
  return flag;
}

ManualPage PageOf(Command& command) {
  CLI::App program;
  const CLI::App* app = AddCommand(command, &program);
  ManualPage page;
  page.text = command.Text();
  for (const CLI::Option* option : app->get_options()) {
    (option->get_positional() ? page.positionals : page.flags).push_back(FlagOf(*option));
  }
  return page;
}

}  // namespace

std::string ManualFlag::Usage() const {
  const bool is_positional = names.front().front() != '-';
  if (is_positional) return value;
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return value.empty() ? text : text + ' ' + value;
}

std::string ManualPage::Synopsis() const {
  std::string line = FullName() + " [flags]";
  for (const ManualFlag& one : positionals) {
    line += one.is_required ? ' ' + one.Usage() : " [" + one.Usage() + ']';
  }
  return line;
}

std::vector<ManualPage> ReadManual() {
  std::vector<ManualPage> pages;
  for (const std::unique_ptr<Command>& command : CreateCommands()) {
    pages.push_back(PageOf(*command));
  }
  return pages;
}

std::string ProgramPurpose() {
  return "the Kubernetes scheduling queue, lock-free, and the laboratory around it";
}

std::vector<ExitCodeText> ExitCodesOf(const CommandText& text) {
  std::vector<ExitCodeText> codes = {{0, "good"}};
  if (!text.no.empty()) codes.push_back({1, text.no});
  codes.push_back({2, "the input or the usage is wrong; one line on stderr says where"});
  codes.push_back({3, "an internal error (a bug)"});
  if (!text.doubt.empty()) codes.push_back({4, text.doubt});
  codes.push_back({130, "interrupted (143: by SIGTERM); what was measured is kept"});
  return codes;
}

Result<ManualPage> FindPage(const std::string& name) {
  std::vector<std::string> names;
  for (ManualPage& page : ReadManual()) {
    if (page.text.name == name) return std::move(page);
    names.push_back(page.text.name);
  }
  return Error("unknown command '" + name + "'; " + ExpectedOneOf(name, names));
}

}  // namespace schedq
