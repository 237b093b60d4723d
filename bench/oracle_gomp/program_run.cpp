#include "oracle_gomp/program_run.hpp"

#include <sys/wait.h>

#include <cstdio>

#include "refrain/oracle.h"
#include "support/clock.hpp"
#include "support/peer_process.hpp"

namespace refrain::bench {

double seconds_of(const std::string& command, const std::string& variables) {
  const std::string line =
      "env -u OMP_NUM_THREADS -u OMP_WAIT_POLICY -u OMP_DYNAMIC -u GOMP_SPINCOUNT " + variables +
      " timeout 120 " + command;
  std::fflush(nullptr);
  const auto begin = now_ns();
  FILE* output = popen(line.c_str(), "r");
  double seconds = 0;
  const bool printed = output && std::fscanf(output, "%lf", &seconds) == 1;
  while (output && std::fgetc(output) != EOF) {}
  const int status = output ? pclose(output) : -1;
  const auto end = now_ns();
  if (status != 0) throw Peer::Lost("`" + command + "` failed or took too long");
  return printed ? seconds : static_cast<double>(end - begin) * 1e-9;
}

double seconds_of(const std::string& command, const Oracle& oracle, const std::string& variables) {
  std::string all = "LD_PRELOAD=" REFRAIN_PRELOAD_LIBRARY " " + oracle.settings + " " + variables;
  if (oracle.record) {
    const std::string& path = oracle.record->path();
    if (refrain_oracle_create(path.c_str(), command.c_str()) != 0) {
      throw Peer::Lost(refrain_oracle_error());
    }
    all += " REFRAIN_ORACLE_RECORD=" + path;
  }
  if (oracle.reference) all += " REFRAIN_ORACLE_REFERENCE=" + oracle.reference->path();
  return seconds_of(command, all);
}

}  // namespace refrain::bench
