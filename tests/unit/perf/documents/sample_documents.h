// One full document of each kind, for tests of writing, reading and schemas. Every optional field
// is present, so that the tests cover all fields.
#pragma once

#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/data_items.h"
#include "perf/documents/floor_document.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/run_document.h"
#include "perf/documents/scale_document.h"

namespace schedq {

RunDocument SampleRun();
BenchDocument SampleBench();
FloorDocument SampleFloor();
ProfileDocument SampleProfile();
BarsDocument SampleBars();
DataItemsDocument SampleDataItems();
ScaleDocument SampleScale();

}  // namespace schedq
