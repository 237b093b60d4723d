/* The oracle, by its C interface, in a program that has nothing else of Refrain. */
#include <inttypes.h>
#include <refrain/oracle.h>
#include <stdio.h>
#include <string.h>

/* How often which event of a run happened. */
static int list(const char* path) {
  const refrain_oracle_run* const run = refrain_oracle_read(path);
  if (run == NULL) return -1;
  const refrain_oracle_listed_thread* thread;
  for (size_t t = 0; (thread = refrain_oracle_list_thread(run, t)) != NULL; ++t) {
    printf("process %" PRIu32 ", thread %" PRIu32 ":\n", thread->process, thread->thread);
    const refrain_oracle_listed_event* event;
    for (uint32_t e = 0; (event = refrain_oracle_list_event(run, t, e)) != NULL; ++e)
      printf("%8" PRIu64 " times %s\n", event->count, event->name);
  }
  return refrain_oracle_free(run);
}

int main(void) {
  if (refrain_oracle_create("consumer.run", "consumer") != 0) return 1;
  const refrain_oracle_options options = {.record = "consumer.run"};
  refrain_oracle* const oracle = refrain_oracle_open(&options);
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
  const uint32_t event = refrain_oracle_event(stream, "an event");
  for (int i = 0; i < 3; ++i) refrain_oracle_submit(stream, event);
  if (strcmp(refrain_oracle_name(stream, event), "an event") != 0) return 1;
  if (refrain_oracle_close(oracle) != 0) return 1;
  return list("consumer.run") == 0 ? 0 : 1;
}
