// Goal: the tsan preset reports a data race. Method: two threads write one variable without any
// order between them; the test expects ThreadSanitizer's report, and a run without it fails.

#include <thread>

int main() {
  int shared = 0;
  auto write = [&shared] {
    for (int round = 0; round < 1000; ++round) {
      ++shared;
    }
  };
  std::thread one(write);
  std::thread two(write);
  one.join();
  two.join();
  return shared == 0 ? 1 : 0;
}
