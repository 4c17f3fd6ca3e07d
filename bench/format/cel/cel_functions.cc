#include "bench/format/cel/cel_functions.h"

#include <algorithm>
#include <array>

#include "bench/format/cel/cel_calls.h"

namespace schedq {
namespace {

constexpr std::string_view kOrdered = "bb:b|ii:b|iu:b|id:b|uu:b|ui:b|ud:b|dd:b|di:b|du:b|ss:b|yy:b";
constexpr std::string_view kExtreme = ".Li:i|.Lu:u|.Ld:d|.Lb:b|.Ls:s|.Ly:y";

constexpr std::array kFunctions = {
    CelFunction{"!_", "b:b", CelCost::kOne, cel::Negation},
    CelFunction{"-_", "i:i|d:d", CelCost::kOne, cel::Negate},
    CelFunction{"@in", "ALA:b|AMAB:b", CelCost::kMember, cel::In},
    CelFunction{"_!=_", "AA:b", CelCost::kEqual, cel::NotEquals},
    CelFunction{"_%_", "ii:i|uu:u", CelCost::kOne, cel::Modulo},
    CelFunction{"_*_", "ii:i|uu:u|dd:d", CelCost::kOne, cel::Multiply},
    CelFunction{"_+_", "yy:y|dd:d|ii:i|LALA:LA|ss:s|uu:u", CelCost::kSum, cel::Add},
    CelFunction{"_-_", "dd:d|ii:i|uu:u", CelCost::kOne, cel::Subtract},
    CelFunction{"_/_", "dd:d|ii:i|uu:u", CelCost::kOne, cel::Divide},
    CelFunction{"_<=_", kOrdered, CelCost::kOrder, cel::LessEquals},
    CelFunction{"_<_", kOrdered, CelCost::kOrder, cel::Less},
    CelFunction{"_==_", "AA:b", CelCost::kEqual, cel::Equals},
    CelFunction{"_>=_", kOrdered, CelCost::kOrder, cel::GreaterEquals},
    CelFunction{"_>_", kOrdered, CelCost::kOrder, cel::Greater},
    CelFunction{"add", ".qq:q|.qi:q", CelCost::kOne, cel::AddQuantity},
    CelFunction{"asApproximateFloat", ".q:d", CelCost::kOne, cel::AsApproximateFloat},
    CelFunction{"asInteger", ".q:i", CelCost::kOne, cel::AsInteger},
    CelFunction{"bool", "b:b|s:b", CelCost::kOne, cel::ToBool},
    CelFunction{"bytes", "y:y|s:y", CelCost::kText, cel::ToBytes},
    CelFunction{"charAt", ".si:s", CelCost::kOne, cel::CharAt},
    CelFunction{"compareTo", ".qq:i|.vv:i", CelCost::kOne, cel::CompareTo},
    CelFunction{"contains", ".ss:b", CelCost::kSearch, cel::Contains},
    CelFunction{"double", "d:d|i:d|s:d|u:d", CelCost::kOne, cel::ToDouble},
    CelFunction{"dyn", "A:*", CelCost::kOne, cel::ToDyn},
    CelFunction{"endsWith", ".ss:b", CelCost::kSecondSize, cel::EndsWith},
    CelFunction{"find", ".ss:s", CelCost::kPattern, cel::Find},
    CelFunction{"includes", ".**:b", CelCost::kTraversal, cel::Includes},
    CelFunction{"indexOf", ".ss:i|.ssi:i|.LAA:i", CelCost::kTraversal, cel::IndexOf},
    CelFunction{"int", "i:i|d:i|s:i|u:i", CelCost::kOne, cel::ToInt},
    CelFunction{"isGreaterThan", ".qq:b|.vv:b", CelCost::kOne, cel::IsGreaterThan},
    CelFunction{"isInteger", ".q:b", CelCost::kOne, cel::IsInteger},
    CelFunction{"isLessThan", ".qq:b|.vv:b", CelCost::kOne, cel::IsLessThan},
    CelFunction{"isQuantity", "s:b", CelCost::kFirstSize, cel::IsQuantity},
    CelFunction{"isSemver", "s:b|sb:b", CelCost::kFirstSize, cel::IsVersion},
    CelFunction{"isSorted", ".Li:b|.Lu:b|.Ld:b|.Lb:b|.Ls:b|.Ly:b", CelCost::kTraversal,
                cel::IsSorted},
    CelFunction{"join", ".Ls:s|.Lss:s", CelCost::kResultSize, cel::Join},
    CelFunction{"lastIndexOf", ".ss:i|.ssi:i|.LAA:i", CelCost::kTraversal, cel::LastIndexOf},
    CelFunction{"lowerAscii", ".s:s", CelCost::kFirstSize, cel::LowerAscii},
    CelFunction{"major", ".v:i", CelCost::kOne, cel::Major},
    CelFunction{"matches", "ss:b|.ss:b", CelCost::kPattern, cel::Matches},
    CelFunction{"max", kExtreme, CelCost::kTraversal, cel::Greatest},
    CelFunction{"min", kExtreme, CelCost::kTraversal, cel::Least},
    CelFunction{"minor", ".v:i", CelCost::kOne, cel::Minor},
    CelFunction{"patch", ".v:i", CelCost::kOne, cel::Patch},
    CelFunction{"quantity", "s:q", CelCost::kFirstSize, cel::ToQuantity},
    CelFunction{"replace", ".sss:s|.sssi:s", CelCost::kFirstTwice, cel::Replace},
    CelFunction{"semver", "s:v|sb:v", CelCost::kFirstSize, cel::ToVersion},
    CelFunction{"sign", "q:i", CelCost::kOne, cel::Sign},
    CelFunction{"size", "y:i|.y:i|LA:i|.LA:i|MAB:i|.MAB:i|s:i|.s:i", CelCost::kOne, cel::Size},
    CelFunction{"split", ".ss:Ls|.ssi:Ls", CelCost::kFirstTwice, cel::Split},
    CelFunction{"startsWith", ".ss:b", CelCost::kSecondSize, cel::StartsWith},
    CelFunction{"string", "s:s|b:s|y:s|d:s|i:s|u:s", CelCost::kText, cel::ToString},
    CelFunction{"sub", ".qq:q|.qi:q", CelCost::kOne, cel::SubtractQuantity},
    CelFunction{"substring", ".si:s|.sii:s", CelCost::kFirstSize, cel::Substring},
    CelFunction{"sum", ".Li:i|.Lu:u|.Ld:d", CelCost::kTraversal, cel::Sum},
    CelFunction{"trim", ".s:s", CelCost::kFirstSize, cel::Trim},
    CelFunction{"type", "A:TA", CelCost::kOne, cel::TypeOf},
    CelFunction{"uint", "u:u|d:u|i:u|s:u", CelCost::kOne, cel::ToUint},
    CelFunction{"upperAscii", ".s:s", CelCost::kFirstSize, cel::UpperAscii},
};

// Functions, and prefixes of functions with a point in their name.
constexpr std::array<std::string_view, 49> kUnmodelled = {"authorizer",
                                                          "cidr",
                                                          "distinct",
                                                          "duration",
                                                          "findAll",
                                                          "first",
                                                          "flatten",
                                                          "format",
                                                          "getDate",
                                                          "getDayOfMonth",
                                                          "getDayOfWeek",
                                                          "getDayOfYear",
                                                          "getEscapedPath",
                                                          "getFullYear",
                                                          "getHost",
                                                          "getHostname",
                                                          "getHours",
                                                          "getMilliseconds",
                                                          "getMinutes",
                                                          "getMonth",
                                                          "getPort",
                                                          "getQuery",
                                                          "getScheme",
                                                          "getSeconds",
                                                          "ip",
                                                          "isCIDR",
                                                          "isIP",
                                                          "isURL",
                                                          "labelSelector",
                                                          "fieldSelector",
                                                          "last",
                                                          "lists",
                                                          "optMap",
                                                          "optFlatMap",
                                                          "optional",
                                                          "orValue",
                                                          "range",
                                                          "reverse",
                                                          "sets",
                                                          "slice",
                                                          "sort",
                                                          "sortBy",
                                                          "strings",
                                                          "timestamp",
                                                          "transformList",
                                                          "transformMap",
                                                          "transformMapEntry",
                                                          "url",
                                                          "value"};

}  // namespace

int FindCelFunction(std::string_view name) {
  const auto* const found =
      std::find_if(kFunctions.begin(), kFunctions.end(),
                   [&](const CelFunction& function) { return function.name == name; });
  return found == kFunctions.end() ? -1 : static_cast<int>(found - kFunctions.begin());
}

const CelFunction& CelFunctionAt(size_t number) { return kFunctions[number]; }

bool IsUnmodelledCelFunction(std::string_view name) {
  return std::find(kUnmodelled.begin(), kUnmodelled.end(), name) != kUnmodelled.end();
}

}  // namespace schedq
