/* The oracle, by its C interface, in a program that has nothing else of Refrain. */
#include <refrain/oracle.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  if (refrain_oracle_create("consumer.run", "consumer") != 0) return 1;
  const refrain_oracle_options options = {.record = "consumer.run"};
  refrain_oracle* const oracle = refrain_oracle_open(&options);
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
  const uint32_t event = refrain_oracle_event(stream, "an event");
  for (int i = 0; i < 3; ++i) refrain_oracle_submit(stream, event);
  if (strcmp(refrain_oracle_name(stream, event), "an event") != 0) return 1;
  return refrain_oracle_close(oracle) == 0 ? 0 : 1;
}
