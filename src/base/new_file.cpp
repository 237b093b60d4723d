#include "base/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "refrain/error.hpp"

namespace refrain {

namespace fs = std::filesystem;

namespace {

constexpr auto kWriting = std::ios::out | std::ios::binary;

bool is_written_by(int descriptor, const struct stat& file) {
  struct stat written {};
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(descriptor, &written) == 0 &&
         written.st_dev == file.st_dev && written.st_ino == file.st_ino;
}

/// What the program has printed so far comes first; but nobody is waited for who is just printing.
void flush_standard_output() {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

}  // namespace

std::optional<int> descriptor_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  std::vector<int> candidates{STDOUT_FILENO, STDERR_FILENO};
  std::error_code none;
  const fs::path given(path);
  // Names in that folder are numbers.
  if (fs::canonical(given.parent_path(), none) == fs::canonical("/proc/self/fd", none)) {
    const auto number = std::strtol(given.filename().c_str(), nullptr, 10);
    candidates.insert(candidates.begin(), static_cast<int>(number));
  }
  for (const int descriptor : candidates)
    if (is_written_by(descriptor, file)) return descriptor;
  return {};
}

std::string make_beside(const std::string& target) {
  static std::atomic<unsigned> made{0};
  const std::string begin = target + ".new-" + std::to_string(getpid()) + "-";
  for (;;) {
    std::string name = begin + std::to_string(made.fetch_add(1, std::memory_order_relaxed));
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) close(file);
    else if (errno == EEXIST) continue;  // of another machine, or left behind
    else name.clear();
    return name;
  }
}

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  if (const std::optional<int> descriptor = descriptor_of(path_)) {
    const int own = fcntl(*descriptor, F_DUPFD_CLOEXEC, 3);
    if (own < 0) error_ = errno;
    else file_ = __gnu_cxx::stdio_filebuf<char>(own, kWriting);
    is_shared_ = true;
    is_untouched_ = error_ == 0;
    return;
  }
  std::error_code none;
  const fs::path canonical = fs::weakly_canonical(path_, none);
  target_ = none || canonical.empty() ? path_ : canonical.string();
  const fs::file_status older = fs::status(target_, none);
  const bool exists = fs::exists(older);
  if (!exists || (fs::is_regular_file(older) && access(target_.c_str(), W_OK) == 0)) {
    beside_ = make_beside(target_);
    if (!beside_.empty()) file_.open(beside_, kWriting);
    if (file_.is_open() && exists) fs::permissions(beside_, older.permissions(), none);
  }
  if (file_.is_open()) return;
  if (!beside_.empty()) std::remove(std::exchange(beside_, {}).c_str());
  errno = 0;
  if (file_.open(path_, kWriting | std::ios::app) == nullptr) error_ = errno;
  else is_made_here_ = !exists;
  is_untouched_ = error_ == 0 && (!exists || fs::is_regular_file(older));
}

NewFile::~NewFile() {
  file_.close();
  if (!beside_.empty()) std::remove(beside_.c_str());
  if (is_untouched_ && is_made_here_) std::remove(target_.c_str());
}

std::ostream& NewFile::out() {
  if (!std::exchange(is_untouched_, false)) return out_;
  if (is_shared_) {
    flush_standard_output();
  } else {
    file_.close();
    if (file_.open(path_, kWriting) == nullptr) out_.setstate(std::ios::failbit);
  }
  return out_;
}

int NewFile::keep() {
  const bool is_written = !out().flush().fail();
  if (file_.close() == nullptr || !is_written) return errno != 0 ? errno : EIO;
  if (!beside_.empty() && std::rename(beside_.c_str(), target_.c_str()) != 0) return errno;
  beside_.clear();
  return 0;
}

void check_written(const std::string& path, const std::string& what, int error) {
  if (error != 0)
    throw Error("the " + what + " cannot be written to '" + path + "': " + std::strerror(error));
}

void write_file(const std::string& path, const std::string& what,
                const std::function<void(std::ostream&)>& write) {
  NewFile file(path);
  check_written(path, what, file.error());
  write(file.out());
  check_written(path, what, file.keep());
}

}  // namespace refrain
