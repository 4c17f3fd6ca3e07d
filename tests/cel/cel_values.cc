// Reads expressions from standard input, one a line, and prints the value of each as text.
#include <iostream>
#include <string>

#include "tests/support/cel_text.h"

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << schedq::CelTextOf(line) << '\n';
  }
  return 0;
}
