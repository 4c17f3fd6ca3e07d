#include "bench/format/workload/template_files.h"

#include "engine/base/result.h"

namespace schedq {

std::string TemplateFiles::ReadText(YamlErrors& errors, const YamlNode& path, std::string_view key,
                                    std::string* resolved_path) {
  std::string name;
  if (!ReadYaml(errors, path, key, &name)) return "";
  *resolved_path = PathBeside(workload_file_, name);
  Result<std::string> text = source_(*resolved_path);
  if (text) return std::move(*text);
  errors.Add(path.at, std::string(key) + " \"" + name + "\" " + text.error().message());
  return "";
}

ObjectTemplateRef TemplateFiles::Load(YamlErrors& errors, const YamlNode& path,
                                      std::string_view key, Form form) {
  const auto known = compiled_.find({PathBeside(workload_file_, path.text), form});
  if (known != compiled_.end()) return known->second;
  std::string file;
  std::string text = ReadText(errors, path, key, &file);
  if (!errors.ok()) return nullptr;
  ObjectTemplateRef compiled;
  if (form == Form::kLiteral) {
    compiled = ObjectTemplate::Literal(file, std::move(text));
  } else {
    auto result = ObjectTemplate::Compile(file, std::move(text));
    if (!result) {
      errors.AddForeign(result.error());
      return nullptr;
    }
    compiled = std::move(*result);
  }
  compiled_[{file, form}] = compiled;
  return compiled;
}

}  // namespace schedq
