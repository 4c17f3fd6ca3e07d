// From plugins of the C interface, made of callbacks, to the plugins that hints run.
//
// Threads: as hints/plugin.h; a callback that throws answers an error.
#pragma once

#include "engine/base/result.h"
#include "schedq/assembly_options.h"
#include "schedq/schedq.h"

namespace schedq {

// Makes the plugin for each queue that asks. All of `given` is copied but what callbacks are given.
// An error says what is wrong with it.
Result<PluginSource> SourceOf(const schedq_plugin* given);

}  // namespace schedq
