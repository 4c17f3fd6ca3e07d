#include "dispatcher/report/status_model.h"

namespace schedq {

std::string_view StatusModelName(StatusModel model) {
  switch (model) {
    case StatusModel::kExplicitImmediate:
      return "explicit-immediate";
    case StatusModel::kExplicitDelayed:
      return "explicit-delayed";
    case StatusModel::kImplicitDelayedOptOut:
      return "implicit-delayed-optout";
    case StatusModel::kImplicitDelayed:
      return "implicit-delayed";
    case StatusModel::kImplicitImmediate:
      return "implicit-immediate";
  }
  return "";
}

std::optional<StatusModel> ParseStatusModel(std::string_view name) {
  for (const StatusModel model : kStatusModels) {
    if (StatusModelName(model) == name) return model;
  }
  return std::nullopt;
}

bool IsDelayed(StatusModel model) {
  return model != StatusModel::kExplicitImmediate && model != StatusModel::kImplicitImmediate;
}
bool IsExplicit(StatusModel model) {
  return model == StatusModel::kExplicitImmediate || model == StatusModel::kExplicitDelayed;
}
bool HasOptOut(StatusModel model) {
  return IsExplicit(model) || model == StatusModel::kImplicitDelayedOptOut;
}

}  // namespace schedq
