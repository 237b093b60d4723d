// A library with one region, which is in the function REFRAIN_NAME, behind so much room that it is somewhere else in
// each.

asm(".text\n .skip " REFRAIN_ROOM);

static volatile int values[8];

extern "C" void REFRAIN_NAME() {
#pragma omp parallel for
  for (int i = 0; i < 8; ++i) values[i] = i;
}

extern "C" void run() { REFRAIN_NAME(); }
