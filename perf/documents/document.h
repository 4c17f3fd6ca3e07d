// Documents as files: results.json, bench.json, floor.json, profile.json, bars.json, scale.json and
// DataItems.
//
// Purpose: read, write and describe the document types RunDocument, BenchDocument, FloorDocument,
// ProfileDocument, BarsDocument, ScaleDocument and DataItemsDocument. A type's Describe function is
// the single statement of its fields; the writer, the strict reader and the JSON schema in docs/
// all follow from it.
// Threads: pure functions; any thread. Two writers of one path leave the whole content of one.
// Invariants:
//  1. Equal content gives equal bytes: keys in the order of Describe, maps by key, numbers in the
//     shortest decimal form that reads back as the same number.
//  2. A file is replaced whole or not at all.
//  3. The schema accepts all that the reader accepts, and the reader all that the writer wrote.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/data_items.h"
#include "perf/documents/floor_document.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/run_document.h"
#include "perf/documents/scale_document.h"

namespace schedq {

// An error names the field that holds a value which JSON cannot carry (infinite, not a number).
template <typename Document>
Result<std::string> DocumentText(const Document& document);

// `name` stands in the error, which is one line: the name, the field or line, what was expected.
template <typename Document>
Result<Document> ParseDocument(std::string_view text, const std::string& name);

template <typename Document>
Status WriteDocument(const Document& document, const std::string& path);

template <typename Document>
Result<Document> ReadDocument(const std::string& path);

// The JSON schema (draft 2020-12) of a document type.
template <typename Document>
std::string DocumentSchema();

#define SCHEDQ_DOCUMENT(linkage, Document)                                                         \
  linkage template Result<std::string> DocumentText(const Document&);                              \
  linkage template Result<Document> ParseDocument<Document>(std::string_view, const std::string&); \
  linkage template Status WriteDocument(const Document&, const std::string&);                      \
  linkage template Result<Document> ReadDocument<Document>(const std::string&);                    \
  linkage template std::string DocumentSchema<Document>();
SCHEDQ_DOCUMENT(extern, RunDocument)
SCHEDQ_DOCUMENT(extern, BenchDocument)
SCHEDQ_DOCUMENT(extern, FloorDocument)
SCHEDQ_DOCUMENT(extern, DataItemsDocument)
SCHEDQ_DOCUMENT(extern, ProfileDocument)
SCHEDQ_DOCUMENT(extern, BarsDocument)
SCHEDQ_DOCUMENT(extern, ScaleDocument)

}  // namespace schedq
