// One full document of each kind, for tests of writing, reading and schemas. Every optional field
// is present, so that the tests cover all fields.
#pragma once

#include "perf/documents/document.h"

namespace schedq {

RunDocument SampleRun();
BenchDocument SampleBench();
FloorDocument SampleFloor();
ProfileDocument SampleProfile();
BarsDocument SampleBars();
DataItemsDocument SampleDataItems();

}  // namespace schedq
