#include "schedq/plugin_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "schedq/assembled_queue.h"
#include "schedq/c_interface/plugins.h"
#include "schedq/c_interface/versioned.h"
#include "schedq/schedq.h"

namespace schedq {
namespace {

constexpr const char* kEntry = "schedq_plugin_library_v1";

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

using Entry = const schedq_plugin_library* (*)();

Result<Entry> OpenEntry(const std::string& path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  if (path.empty() || code || !std::filesystem::exists(absolute, code)) {
    return Error("there is no such file, expected a shared library with the symbol " +
                 std::string(kEntry));
  }
  // The loader would wait for the writer of a pipe.
  if (!std::filesystem::is_regular_file(absolute, code)) {
    return Error("it is no file, expected a shared library with the symbol " + std::string(kEntry));
  }
  // Files of /proc that make their reader wait, for ever, say that they have no size.
  if (std::filesystem::file_size(absolute, code) == 0) {
    return Error("it is empty, expected a shared library with the symbol " + std::string(kEntry));
  }
  void* const library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return Error("it cannot be loaded (" + std::string(reason != nullptr ? reason : "no reason") +
                 "), expected a shared library with the symbol " + kEntry);
  }
  void* const symbol = dlsym(library, kEntry);
  if (symbol == nullptr) {
    return Error("it has no symbol " + std::string(kEntry) +
                 ", expected a plugin library for version " + std::to_string(SCHEDQ_ABI_VERSION) +
                 " of the interface");
  }
  return reinterpret_cast<Entry>(symbol);
}

// What the library says of itself.
Result<schedq_plugin_library> Describe(const std::string& path) {
  const Result<Entry> entry = OpenEntry(path);
  if (!entry) return entry.error();
  const schedq_plugin_library* given = nullptr;
  const std::string expected = ", expected a description of its plugins";
  try {
    given = (*entry)();
  } catch (const std::exception& exception) {
    return Error(std::string(kEntry) + " threw '" + exception.what() + "'" + expected);
  } catch (...) {
    return Error(std::string(kEntry) + " threw" + expected);
  }
  if (given == nullptr) return Error(std::string(kEntry) + " returned nothing" + expected);
  schedq_plugin_library read;
  if (Status status = ReadVersioned("library", given, &read); !status) return status.error();
  if (read.abi_version != SCHEDQ_ABI_VERSION) {
    return Error("it is for version " + std::to_string(read.abi_version) +
                 " of the plugin interface, expected version " +
                 std::to_string(SCHEDQ_ABI_VERSION));
  }
  if (read.plugin_count == 0 || read.plugins == nullptr) {
    return Error("it has no plugins, expected one at least");
  }
  return read;
}

}  // namespace

Result<PluginLibrary> PluginLibrary::Load(const std::string& path) {
  const auto refuse = [&](const Error& error) {
    return Error(OneLine(path + ": " + error.message()));
  };
  const Result<schedq_plugin_library> described = Describe(path);
  if (!described) return refuse(described.error());
  PluginLibrary library;
  library.path_ = path;
  for (uint32_t i = 0; i < described->plugin_count; ++i) {
    const schedq_plugin* const plugin = described->plugins[i];
    Result<PluginSource> source = SourceOf(plugin);
    if (!source) return refuse(source.error());
    library.plugin_names_.emplace_back(plugin->name);
    library.has_registrations_.push_back(plugin->registration_count != 0);
    library.sources_.push_back(std::move(*source));
  }
  return library;
}

Result<std::vector<PluginSource>> LoadFurtherPlugins(const std::vector<std::string>& paths) {
  std::vector<PluginSource> sources;
  for (const std::string& path : paths) {
    const Result<PluginLibrary> library = PluginLibrary::Load(path);
    if (!library) return library.error();
    sources.insert(sources.end(), library->sources().begin(), library->sources().end());
    AssemblyOptions trial;
    trial.further_plugins = sources;
    if (const auto made = AssembledQueue::Create(std::move(trial)); !made) {
      return Error(OneLine(path + ": " + made.error().message()));
    }
  }
  return sources;
}

}  // namespace schedq
