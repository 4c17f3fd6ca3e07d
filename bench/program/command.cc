#include "bench/program/command.h"

#include <map>
#include <utility>

#include "bench/program/flag_values.h"

namespace schedq {
namespace {

using Factory = std::function<std::unique_ptr<Command>()>;

// Inside a function, so that it exists before the first registration of another file.
std::map<int, Factory>& Registry() {
  static std::map<int, Factory> registry;
  return registry;
}

}  // namespace

CommandRegistration::CommandRegistration(int line, Factory create) {
  const bool is_new = Registry().emplace(line, std::move(create)).second;
  SCHEDQ_CHECK(is_new, "two commands want the same line of --help");
}

std::vector<std::unique_ptr<Command>> CreateCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto& [line, create] : Registry()) commands.push_back(create());
  return commands;
}

CLI::App* AddCommand(Command& command, CLI::App* program) {
  const CommandText text = command.Text();
  CLI::App* app = program->add_subcommand(text.name, text.purpose);
  app->set_help_flag("-h,--help", "Print this help and exit");
  command.Declare(*app);
  // After what each flag says of itself.
  for (CLI::Option* option : app->get_options()) {
    if (option->get_items_expected_max() > 0) option->check(SomeText(option->get_type_name()));
  }
  return app;
}

}  // namespace schedq
