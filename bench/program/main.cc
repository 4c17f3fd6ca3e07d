#include "bench/program/command_line.h"

int main(int argument_count, char** arguments) {
  return schedq::RunCommandLine(argument_count, arguments);
}
