#pragma once
// A peer: a system to compare with, in a process of its own. Runtimes cannot share a process (two
// OpenMP runtimes clash, every one brings its own threads), and yet their repetitions must
// alternate, so that the drift of the machine hits all alike. So each peer is a small server: it
// reads a request line on its standard input, does the work and answers with one number.
//
// Between requests a peer is stopped (SIGSTOP): many runtimes spin while idle, and that is neither
// switched off, as it is part of what is measured, nor allowed to disturb the others.
//
// Environment variables of the rivals' runtimes (OMP_*, GOMP_*, KMP_*, STARPU_*, TBB_*) are removed:
// defaults are measured, except for what the peer itself sets. One thread. A peer that does not
// answer in time is killed; `Peer::Lost` says why, and the benchmark goes on without it.

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace refrain::bench {

class Peer {
 public:
  /// The peer is not there, hangs, died or answered with an error.
  class Lost : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  /// Starts `path` with `arguments` and waits until it is ready. Throws Lost. `patience_s`: how long
  /// it may be silent.
  Peer(const std::string& path, const std::vector<std::string>& arguments, int patience_s = 60);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Sends a request line and returns the number answered. Throws Lost after too long a silence;
  /// the peer must not be asked again then.
  double ask(const std::string& request);

 private:
  void launch(const std::string& path, const std::vector<std::string>& arguments);
  std::string answer();
  void signal(int number);
  void kill_now();

  int patience_s_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffered_;
};

}  // namespace refrain::bench
