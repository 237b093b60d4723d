// METG(50%) of Task Bench's patterns on two ranks of one thread, beside the same by hand in MPI (metg/patterns.hpp).

#include "metg/patterns.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

int main(int argc, char** argv) {
  using namespace refrain::bench;
  const Options options =
      parse_options(argc, argv, "METG(50%) on two ranks beside MPI by hand.", 15, 1);
  Records records;
  measure_patterns_on_ranks(options, 2, records);
  records.write(options.out);
  return 0;
}
