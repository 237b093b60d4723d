// The oracle: what it costs to record a program's events.

#include "oracle/recording.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

int main(int argc, char** argv) {
  using namespace refrain::bench;
  const Options options =
      parse_options(argc, argv, "What does it cost to record the events of a program?", 7, 2);
  Records records;
  measure_recording(options, records);
  measure_memory(options, records);
  records.write(options.out);
  return 0;
}
