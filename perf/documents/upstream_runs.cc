#include "perf/documents/upstream_runs.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "perf/documents/json_archive.h"
#include "perf/documents/json_text.h"
#include "perf/files/input_file.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

using json::Cursor;
using json::Json;

constexpr uint64_t kVersion = 1;

// Reads one object; every known key must be there, and no other. `others` are known and not read.
class Keys {
 public:
  Keys(Cursor* cursor, const Json& object, std::initializer_list<const char*> others)
      : cursor_(*cursor), object_(object), others_(others) {
    if (!object_.is_object()) cursor_.Expect("an object", object_);
  }

  // Null once something was wrong.
  const Json* Find(const std::string& key) {
    known_.insert(key);
    if (cursor_.failed()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    cursor_.Fail("expected the key \"" + key + "\", which is missing");
    return nullptr;
  }

  template <typename T>
  void Read(const char* key, T* value) {
    const Json* const json = Find(key);
    if (json == nullptr) return;
    const Cursor::Step step(cursor_, key);
    json::Decode(cursor_, *json, *value);
  }

  // After all keys were read.
  void End() {
    for (const char* key : others_) Find(key);
    if (cursor_.failed()) return;
    for (const auto& [key, value] : object_.items()) {
      if (known_.contains(key)) continue;
      const Cursor::Step step(cursor_, key);
      return cursor_.Fail("unknown key, expected only those of version " +
                          std::to_string(kVersion));
    }
  }

 private:
  Cursor& cursor_;
  const Json& object_;
  const std::vector<const char*> others_;
  std::set<std::string> known_;
};

// "Name=true", or several with commas between.
std::optional<std::map<std::string, bool>> ParseForced(const std::string& text) {
  std::map<std::string, bool> gates;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const size_t equals = one.find('=');
    const std::string value = equals == std::string::npos ? "" : one.substr(equals + 1);
    if (equals == 0 || (value != "true" && value != "false")) return std::nullopt;
    if (!gates.emplace(one.substr(0, equals), value == "true").second) return std::nullopt;
    begin = end + 1;
  }
  return gates;
}

// An object from names to booleans where nothing was forced, else a text.
void ReadForced(Cursor* cursor, const Json& json, std::map<std::string, bool>* gates) {
  const Cursor::Step step(*cursor, "gates_forced");
  if (!json.is_string()) return json::Decode(*cursor, json, *gates);
  auto forced = ParseForced(json.get<std::string>());
  if (!forced) return cursor->Expect("NAME=true or NAME=false", json);
  *gates = std::move(*forced);
}

// [count, seconds] each.
void ReadHints(Cursor* cursor, const Json& json, std::map<std::string, uint64_t>* hints) {
  const Cursor::Step step(*cursor, "hints");
  if (!json.is_object()) return cursor->Expect("an object", json);
  for (const auto& [name, pair] : json.items()) {
    const Cursor::Step at(*cursor, name);
    const bool is_pair =
        pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() && pair[1].is_number();
    const bool has_parts = std::count(name.begin(), name.end(), '|') == 2;
    if (!is_pair) return cursor->Expect("a count and seconds", pair);
    if (!has_parts) return cursor->Fail("expected the key plugin|event|answer");
    (*hints)[name] = pair[0].get<uint64_t>();
  }
}

void ReadSection(Cursor* cursor, const Json& json, UpstreamSection* section) {
  Keys keys(cursor, json,
            {"start_s", "stop_s", "seconds", "pods_created", "pods_deleted", "process_cpu_s",
             "bound_per_s_whole_section", "bound_per_s_activity", "attempts"});
  keys.Read("pods_bound", &section->pods_bound);
  keys.Read("first_activity_to_last_bind_s", &section->seconds);
  keys.End();
  if (section->seconds < 0) cursor->Fail("expected first_activity_to_last_bind_s from 0");
}

// Calls `read` for each element of an array.
template <typename T>
void ReadEach(Cursor* cursor, const char* key, const Json* json, std::vector<T>* values,
              void (*read)(Cursor*, const Json&, T*)) {
  if (json == nullptr || cursor->failed()) return;
  const Cursor::Step step(*cursor, key);
  if (!json->is_array()) return cursor->Expect("an array", *json);
  for (size_t i = 0; i < json->size() && !cursor->failed(); ++i) {
    const Cursor::Step at(*cursor, i);
    read(cursor, (*json)[i], &values->emplace_back());
  }
}

void ReadRun(Cursor* cursor, const Json& json, UpstreamRun* run) {
  Keys keys(cursor, json,
            {"wall_s", "pods", "incoming_entities", "prequeueing_hints", "scheduled_after_flush",
             "events", "extension_points", "plugins", "algorithm", "attempt_time", "pod_attempts",
             "preemption_attempts", "process_cpu_s", "timeline_100ms"});
  keys.Read("attempts", &run->attempts);
  keys.Read("incoming_pods", &run->incoming_pods);
  keys.Read("api_calls", &run->api_calls);
  keys.Read("busy_by_others_cores", &run->busy_by_others_cores);
  if (const Json* hints = keys.Find("hints")) ReadHints(cursor, *hints, &run->hints);
  if (const Json* items = keys.Find("pods_per_s")) {
    const Cursor::Step step(*cursor, "pods_per_s");
    if (!items->is_array()) return cursor->Expect("an array", *items);
    run->has_throughput = !items->empty();
  }
  ReadEach(cursor, "sections", keys.Find("sections"), &run->sections, ReadSection);
  keys.End();
}

void ReadDocument(Cursor* cursor, const Json& json, UpstreamRuns* document) {
  Keys keys(cursor, json, {"file", "labels", "params", "kubernetes", "go", "etcd", "cores"});
  if (const Json* version = keys.Find("schedq_upstream")) {
    const Cursor::Step step(*cursor, "schedq_upstream");
    if (!version->is_number_unsigned() || version->get<uint64_t>() != kVersion) {
      return cursor->Expect("version " + std::to_string(kVersion), *version);
    }
  }
  keys.Read("case", &document->test_case);
  keys.Read("workload", &document->workload);
  keys.Read("gates", &document->gates);
  if (const Json* forced = keys.Find("gates_forced")) {
    ReadForced(cursor, *forced, &document->gates_forced);
  }
  for (const auto& [gate, is_on] : document->gates_forced) document->gates[gate] = is_on;
  ReadEach(cursor, "runs", keys.Find("runs"), &document->runs, ReadRun);
  keys.End();
  if (!cursor->failed() && document->runs.empty()) cursor->Fail("runs: expected at least one");
}

Result<std::vector<std::string>> JsonFilesOf(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path().string());
  }
  if (code) return Error(folder + ": cannot be read (" + code.message() + "), expected a folder");
  if (files.empty()) return Error(folder + ": holds no .json file, expected measured runs");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<UpstreamRuns> ParseUpstreamRuns(std::string_view text, const std::string& name) {
  std::variant<Json, JsonProblem> parsed = ParseJsonText<Json>(text);
  if (const auto* problem = std::get_if<JsonProblem>(&parsed)) {
    return Error(name + ": " + problem->what);
  }
  Cursor cursor;
  UpstreamRuns document;
  document.file = fs::path(name).filename().string();
  ReadDocument(&cursor, std::get<Json>(parsed), &document);
  if (cursor.failed()) return Error(name + ": " + *cursor.error());
  return document;
}

Result<std::vector<UpstreamRuns>> ReadUpstreamFolder(const std::string& folder) {
  const Result<std::vector<std::string>> files = JsonFilesOf(folder);
  if (!files) return files.error();
  std::vector<UpstreamRuns> all;
  std::map<std::pair<std::string, std::map<std::string, bool>>, std::string> places;
  for (const std::string& path : *files) {
    const Result<std::string> text = ReadInput(path, InputFrom::kFile);
    if (!text) return Error(path + ": " + text.error().message());
    Result<UpstreamRuns> runs = ParseUpstreamRuns(*text, path);
    if (!runs) return runs.error();
    const auto [first, is_new] = places.emplace(std::pair(runs->Name(), runs->gates), path);
    if (!is_new) {
      return Error(path + ": is of " + runs->Name() + " with the gates of " + first->second +
                   ", expected each workload once");
    }
    all.push_back(std::move(*runs));
  }
  return all;
}

}  // namespace schedq
