#include "engine/told.h"

#include <exception>
#include <string>

namespace schedq {
namespace {

void Tell(const Told& told, const std::string& message, QueueObserver* observer) {
  switch (told.what) {
    case Told::What::kGated:
      observer->OnGated(told.pod, told.plugin, message, told.move);
      break;
    case Told::What::kPassed:
      observer->OnPassed(told.pod, told.move);
      break;
    case Told::What::kMoved:
      observer->OnMoved(told.pod, told.from, told.to, told.label);
      break;
    case Told::What::kPopped:
      observer->OnPopped(told.pod, told.attempts);
      break;
    case Told::What::kDeleted:
      observer->OnDeleted(told.pod, told.move);
      break;
  }
}

}  // namespace

void TellAll(std::span<const Told> all, const PreEnqueueCheck& pre_enqueue,
             std::span<QueueObserver* const> observers) {
  std::exception_ptr thrown;
  const auto keep_first = [&](const auto& call) {
    try {
      call();
    } catch (...) {
      if (thrown == nullptr) thrown = std::current_exception();
    }
  };
  for (const Told& told : all) {
    std::string message;
    if (told.what == Told::What::kGated) {
      keep_first([&] { message = pre_enqueue.Explain(*told.pod, told.plugin); });
    }
    for (QueueObserver* observer : observers) keep_first([&] { Tell(told, message, observer); });
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace schedq
