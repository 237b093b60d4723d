#pragma once
// Runs of an OpenMP program, with the preload library and without. One thread.

#include <string>

namespace refrain::bench {

/// A file for a run, gone in the end.
class RunFile {
 public:
  RunFile();
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Of the library's environment: what is recorded, what it predicts by, and its settings, "A=1 B=2".
struct Oracle {
  const RunFile* record = nullptr;
  const RunFile* reference = nullptr;
  std::string settings{};
};

/// The seconds that the command prints first on its standard output; of one that prints nothing those it took, as a
/// process. `variables`: of its environment, in which there are no others of OpenMP. Throws Peer::Lost if it fails.
double seconds_of(const std::string& command, const std::string& variables);
/// The same with the library.
double seconds_of(const std::string& command, const Oracle& oracle, const std::string& variables);

}  // namespace refrain::bench
