#include "perf/text/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace schedq {

bool IsTerminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(descriptor) == 1;
}

bool WantsColour(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return IsTerminal(descriptor);
}

std::optional<size_t> TerminalColumns(int descriptor) {
  constexpr size_t kUsual = 80;
  if (!IsTerminal(descriptor)) return std::nullopt;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long told = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return told > 0 ? static_cast<size_t>(told) : kUsual;
}

TableLayout LayoutOf(int descriptor, bool wide) {
  TableLayout layout;
  layout.colour = WantsColour(descriptor);
  layout.wide = wide;
  layout.width_max =
      std::min(layout.width_max, TerminalColumns(descriptor).value_or(layout.width_max));
  return layout;
}

}  // namespace schedq
