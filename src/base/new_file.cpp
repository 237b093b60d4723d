#include "base/new_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "refrain/error.hpp"

namespace refrain {

namespace fs = std::filesystem;

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  std::error_code none;
  const fs::path canonical = fs::weakly_canonical(path_, none);
  target_ = none || canonical.empty() ? path_ : canonical.string();
  const fs::file_status older = fs::status(target_, none);
  errno = 0;
  if (!fs::exists(older) || fs::is_regular_file(older)) {
    const bool is_writable = !fs::exists(older) || access(target_.c_str(), W_OK) == 0;
    if (is_writable) {
      beside_ = target_ + ".new-" + std::to_string(getpid());
      out_.open(beside_, std::ios::binary);
      if (out_ && fs::exists(older)) fs::permissions(beside_, older.permissions(), none);
    }
  }
  if (out_.is_open()) return;
  beside_.clear();
  out_.clear();
  errno = 0;
  out_.open(path_, std::ios::binary);
  if (!out_) error_ = errno;
}

NewFile::~NewFile() {
  out_.close();
  if (!beside_.empty()) std::remove(beside_.c_str());
}

int NewFile::keep() {
  out_.close();
  if (!out_) return errno != 0 ? errno : EIO;
  if (!beside_.empty() && std::rename(beside_.c_str(), target_.c_str()) != 0) return errno;
  beside_.clear();
  return 0;
}

void write_file(const std::string& path, const std::string& what, const std::string& text) {
  NewFile file(path);
  int error = file.error();
  if (error == 0) {
    file.out() << text;
    error = file.keep();
  }
  if (error != 0)
    throw Error("the " + what + " cannot be written to '" + path + "': " + std::strerror(error));
}

}  // namespace refrain
