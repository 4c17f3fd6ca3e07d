// The templates that a workload file names. Each is read and compiled once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/objects/object_template.h"
#include "bench/format/suite/file_source.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

class TemplateFiles {
 public:
  enum class Form : bool { kLiteral, kTemplate };

  // Relative paths are resolved against the folder of `workload_file`.
  TemplateFiles(FileSource source, std::string workload_file)
      : source_(std::move(source)), workload_file_(std::move(workload_file)) {}

  // Returns the template that a path in the workload file names. A missing file is an error at the
  // path; a template that does not compile is an error at its own line. Null after an error.
  ObjectTemplateRef Load(YamlErrors& errors, const YamlNode& path, std::string_view key, Form form);

  // Returns the file's text instead of a template.
  std::string ReadText(YamlErrors& errors, const YamlNode& path, std::string_view key,
                       std::string* resolved_path);

 private:
  FileSource source_;
  std::string workload_file_;
  std::map<std::pair<std::string, Form>, ObjectTemplateRef> compiled_;
};

}  // namespace schedq
