#pragma once
// What a run has recorded.

#include <unistd.h>

#include <filesystem>
#include <string>

namespace refrain::bench {

/// In the folder for temporary files until the end of the scope. No two processes have the same.
class CallFile {
 public:
  explicit CallFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               ("refrain_calls_" + std::to_string(getpid()) + "_" + name))
                  .string()) {}
  ~CallFile() { std::filesystem::remove(path_); }
  CallFile(const CallFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace refrain::bench
