// An out-of-tree plugin: all that its author writes.
//
// NamespaceQuota lets a pod enter the queue only while its namespace has pods left to start.
#pragma once

#include <map>
#include <string>

#include "hints/plugin.h"

namespace example {

// Pods left to start, by namespace. Constant while a queue runs, in this example.
using QuotaByNamespace = std::map<std::string, int>;

// `quota` must outlive the plugin.
schedq::Plugin NamespaceQuotaPlugin(const QuotaByNamespace* quota);

}  // namespace example
