// Plugins from outside: shared libraries with one entry symbol, schedq_plugin_library_v1.
//
// Purpose: a program loads plugins that it was not built with. schedq/schedq.h says what a library
// looks like; schedq/plugin.h writes one in C++.
// Threads: any. Loading runs the library's own code.
// Memory: a library that was loaded is never closed, as its code may be on some thread's stack.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "schedq/assembly_options.h"

namespace schedq {

class PluginLibrary {
 public:
  // An error names the file and what was expected: the file is no library, lacks the symbol, is
  // for another version of the interface, describes a plugin that cannot be, or throws.
  static Result<PluginLibrary> Load(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<std::string>& plugin_names() const { return plugin_names_; }
  // In the same order: the plugin registers for an event at least.
  const std::vector<bool>& has_registrations() const { return has_registrations_; }
  // In the same order. For AssemblyOptions::further_plugins.
  const std::vector<PluginSource>& sources() const { return sources_; }

 private:
  std::string path_;
  std::vector<std::string> plugin_names_;
  std::vector<bool> has_registrations_;
  std::vector<PluginSource> sources_;
};

// All plugins of these libraries, as AssemblyOptions wants them. They are made once for a trial,
// beside kube-scheduler's. An error names the file.
Result<std::vector<PluginSource>> LoadFurtherPlugins(const std::vector<std::string>& paths);

}  // namespace schedq
