// The oracle: what it costs to record a program's events, to follow them and to predict them, and how good the
// predictions are.

#include "oracle/accuracy.hpp"
#include "oracle/beside_others.hpp"
#include "oracle/recording.hpp"
#include "oracle/timed_recording.hpp"
#include "support/options.hpp"
#include "support/records.hpp"

int main(int argc, char** argv) {
  using namespace refrain::bench;
  const Options options = parse_options(
      argc, argv, "What do recording and predicting cost, and how good are the predictions?", 3, 2);
  Records records;
  if (options.wants("recording")) measure_recording(options, records);
  if (options.wants("timed")) measure_timed_recording(options, records);
  if (options.wants("memory")) measure_memory(options, records);
  if (options.wants("prediction")) measure_prediction_time(options, records);
  if (options.wants("accuracy")) measure_accuracy(options, records);
  if (options.wants("streams")) measure_eight_streams(options, records);
  records.write(options.out);
  return 0;
}
