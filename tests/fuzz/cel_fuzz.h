// The fuzzed function for selectors of devices: any text must be refused in one line, or be
// evaluated within its bounds, to the same result each time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// Compiles the bytes as an expression of any type without a device, and as a selector, and
// evaluates what compiles. Returns whether the bytes are a selector.
bool FuzzCelSelector(const uint8_t* data, size_t size);

}  // namespace schedq
