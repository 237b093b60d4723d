// The oracle: how good and how quick its predictions are.

#include "oracle/accuracy.hpp"

int main(int argc, char** argv) {
  using namespace refrain::bench;
  const Options options = parse_options(
      argc, argv, "How good are the oracle's predictions, and how quickly made?", 15, 3);
  Records records;
  measure_prediction_time(options, records);
  measure_accuracy(options, records);
  records.write(options.out);
  return 0;
}
