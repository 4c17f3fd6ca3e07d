// Functions on lists.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bench/format/cel/cel_calls.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"

namespace schedq::cel {
namespace {

// The item that no other one comes before, or after; the first of equal ones.
CelValue Extreme(const CelValue& list, int64_t wanted, const char* empty) {
  if (list.kind != CelKind::kList) return CelNoOverload();
  if (list.size == 0) return CelError(empty);
  CelValue best = list.items[0];
  for (uint32_t i = 1; i < list.size; ++i) {
    const CelValue order = Compare(list.items[i], best);
    if (order.IsError()) return order;
    if (order.integer == wanted) best = list.items[i];
  }
  return best;
}

}  // namespace

// Whether the list has the item; of what is no list, whether it is the item.
CelValue Includes(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& target = arguments[0];
  if (target.kind != CelKind::kList) {
    return CelBool(run.Equal(target, arguments[1]).IsTrue());
  }
  return CelBool(std::any_of(target.items, target.items + target.size, [&](const CelValue& item) {
    return run.Equal(item, arguments[1]).IsTrue();
  }));
}

CelValue IsSorted(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& list = arguments[0];
  if (list.kind != CelKind::kList) return CelNoOverload();
  for (uint32_t i = 1; i < list.size; ++i) {
    const CelValue order = Compare(list.items[i - 1], list.items[i]);
    if (order.IsError()) return order;
    if (order.integer > 0) return CelBool(false);
  }
  return CelBool(true);
}

CelValue Sum(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& list = arguments[0];
  if (list.kind != CelKind::kList) return CelNoOverload();
  if (list.size == 0) return CelInt(0);
  CelValue sum = list.items[0];
  if (!CelIsNumber(sum.kind)) return CelNoOverload();
  for (uint32_t i = 1; i < list.size && !sum.IsError(); ++i) {
    const CelValue pair[] = {sum, list.items[i]};
    sum = Add(run, pair, 2);
  }
  return sum;
}

CelValue Least(CelRun&, const CelValue* arguments, size_t) {
  return Extreme(arguments[0], -1, "min called on empty list");
}

CelValue Greatest(CelRun&, const CelValue* arguments, size_t) {
  return Extreme(arguments[0], 1, "max called on empty list");
}

CelValue ItemIndex(CelRun& run, const CelValue* arguments, bool last) {
  const CelValue& list = arguments[0];
  int64_t found = -1;
  for (uint32_t i = 0; i < list.size; ++i) {
    if (!run.Equal(list.items[i], arguments[1]).IsTrue()) continue;
    found = i;
    if (!last) break;
  }
  return CelInt(found);
}

}  // namespace schedq::cel
