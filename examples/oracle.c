/* A run is recorded; the next one, twice as long, is told what it will do. */
#include <refrain/oracle.h>
#include <stdio.h>
#include <stdlib.h>

static void* checked(void* handle) {
  if (handle != NULL) return handle;
  fprintf(stderr, "oracle: %s\n", refrain_oracle_error());
  exit(1);
}

/* What a runtime sees of a solver: messages, then a reduction. While it waits it could prepare what comes next. */
static void solve(refrain_oracle_stream* stream, int steps) {
  const uint32_t send = refrain_oracle_event(stream, "send"), wait = refrain_oracle_event(stream, "wait");
  const uint32_t reduce = refrain_oracle_event(stream, "reduce");
  int right = 0;
  for (int step = 0; step < steps; ++step) {
    for (int neighbour = 0; neighbour < 4; ++neighbour) {
      refrain_oracle_submit(stream, send);
      refrain_oracle_submit(stream, wait);
      if (refrain_oracle_predict(stream, 1).event == (neighbour < 3 ? send : reduce)) ++right;
      if (step == 7 && neighbour == 1)
        printf("%d events until the reduction\n", (int)refrain_oracle_next(stream, reduce).distance);
    }
    refrain_oracle_submit(stream, reduce);
  }
  printf("%d of %d predictions were right\n", right, 4 * steps);
}

int main(void) {
  const char* const file = "oracle_example.run";
  if (refrain_oracle_create(file, "solver") != 0) checked(NULL);
  const refrain_oracle_options first = {.record = file}, second = {.reference = file, .program = "solver"};
  for (int run = 0; run < 2; ++run) {
    refrain_oracle* const oracle = checked(refrain_oracle_open(run == 0 ? &first : &second));
    solve(checked(refrain_oracle_join(oracle, 0)), 1000 * (run + 1));
    if (refrain_oracle_close(oracle) != 0) checked(NULL);
  }
}
