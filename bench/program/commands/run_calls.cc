#include "bench/program/commands/run_calls.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

#include "bench/program/flag_values.h"

namespace schedq {
namespace {

constexpr const char* kByRelevance = "relevance";
constexpr const char* kByArrival = "arrival";
constexpr const char* kOfBindings = "bindings";
constexpr const char* kOfEvents = "events";
constexpr uint64_t kCallLimitMax = 1'000'000;
constexpr uint64_t kClientRateMax = 1'000'000;

// A whole number from 1.
std::optional<uint64_t> ReadRate(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() &&
                         !text.empty() && text[0] != '0' && number <= kClientRateMax;
  return is_number ? std::optional(number) : std::nullopt;
}

Status ReadClientRate(const std::string& text, CallSettings* settings) {
  if (text.empty()) return Status::Ok();
  const std::string_view all = text;
  const size_t colon = all.find(':');
  const std::optional<uint64_t> rate = ReadRate(all.substr(0, colon));
  const std::optional<uint64_t> burst =
      colon == std::string_view::npos ? rate : ReadRate(all.substr(colon + 1));
  if (!rate || !burst) {
    return Error(fmt::format(
        "--client-rate '{}': expected calls a second, and maybe a burst, up to {}, such as 50:100",
        text, kClientRateMax));
  }
  settings->calls_per_second = static_cast<double>(*rate);
  settings->burst = static_cast<uint32_t>(*burst);
  return Status::Ok();
}

Status ReadOwnClients(const std::vector<std::string>& names, CallSettings* settings) {
  for (const std::string& name : names) {
    bool& has_client =
        name == kOfBindings ? settings->bindings_have_client : settings->events_have_client;
    if (has_client) {
      return Error(fmt::format("--own-client {}: it is said before, expected each once", name));
    }
    has_client = true;
  }
  return Status::Ok();
}

}  // namespace

const char* CallRequest::FirstOfCalls() const {
  if (!order.empty()) return "--call-order";
  if (limit != 0) return "--call-limit";
  if (!own_clients.empty()) return "--own-client";
  if (gates_reentry) return "--reentry-gate";
  return client_rate.empty() ? nullptr : "--client-rate";
}

void DeclareCalls(CLI::App& app, CallRequest* request) {
  app.add_option("--call-order", request->order,
                 "Which API call starts first: by relevance, bindings first (the default), or by "
                 "arrival, as upstream")
      ->type_name("relevance|arrival")
      ->check(CLI::IsMember({kByRelevance, kByArrival}));
  app.add_option("--call-limit", request->limit,
                 "By arrival: at most so many patches of failed attempts are in flight")
      ->type_name("N")
      ->check(WholeNumber(1, kCallLimitMax));
  app.add_option("--own-client", request->own_clients,
                 "API calls with a client, and tokens, of their own; bindings: by arrival")
      ->type_name("bindings|events")
      ->check(CLI::IsMember({kOfBindings, kOfEvents}))
      ->expected(1)
      ->take_all();
  app.add_flag("--reentry-gate", request->gates_reentry,
               "By arrival: a failed pod enters the queue when its patch has ended");
  app.add_option("--client-rate", request->client_rate,
                 "Calls a second that the scheduler's client lets through, and its burst; by "
                 "default the cost model's")
      ->type_name("CALLS[:BURST]")
      ->check(SomeText("CALLS[:BURST]"));
  app.add_option("--fault", request->faults,
                 "What goes wrong: errors, lag or controllers, and its fields: "
                 "errors,percent=20,calls=bind+patch,duration=10s")
      ->type_name("FAULT,FIELD=VALUE...")
      ->expected(1)
      ->take_all();
}

Result<CallSettings> ReadCallSettings(const CallRequest& request) {
  CallSettings settings;
  settings.patches_in_flight_max = static_cast<uint32_t>(request.limit);
  settings.gates_reentry = request.gates_reentry;
  if (Status status = ReadOwnClients(request.own_clients, &settings); !status) {
    return status.error();
  }
  if (settings.has_proposal() && request.order == kByRelevance) {
    return Error(fmt::format("--call-order {}: {} mends the order of arrival, expected that",
                             request.order,
                             request.limit != 0              ? "--call-limit"
                             : settings.bindings_have_client ? "--own-client bindings"
                                                             : "--reentry-gate"));
  }
  if (settings.has_proposal() || request.order == kByArrival) settings.order = CallOrder::kArrival;
  if (Status status = ReadClientRate(request.client_rate, &settings); !status) {
    return status.error();
  }
  return settings;
}

Result<std::vector<Fault>> ReadFaults(const CallRequest& request) {
  std::vector<Fault> faults;
  for (const std::string& text : request.faults) {
    const Result<Fault> fault = ParseFault(text);
    if (!fault) return Error(fmt::format("--fault {}: {}", text, fault.error().message()));
    faults.push_back(*fault);
  }
  return faults;
}

std::vector<std::string> FlagsOf(const CallRequest& request) {
  std::vector<std::string> flags;
  const auto add = [&flags](const char* flag, const std::string& value) {
    if (!value.empty()) flags.push_back(std::string(flag) + "=" + value);
  };
  add("--call-order", request.order);
  if (request.limit != 0) add("--call-limit", std::to_string(request.limit));
  for (const std::string& name : request.own_clients) add("--own-client", name);
  if (request.gates_reentry) flags.emplace_back("--reentry-gate");
  add("--client-rate", request.client_rate);
  for (const std::string& fault : request.faults) add("--fault", fault);
  return flags;
}

}  // namespace schedq
