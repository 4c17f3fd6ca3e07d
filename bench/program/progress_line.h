// One line on stderr that is written over as work goes on; nothing when nobody watches.
// Threads: the main thread only.
#pragma once

#include <string>

namespace schedq {

class ProgressLine {
 public:
  ProgressLine();
  // Clears the line, so that what follows starts on a clean one.
  ~ProgressLine();

  void Show(const std::string& text);
  void Clear();

 private:
  const bool is_watched_;
};

}  // namespace schedq
