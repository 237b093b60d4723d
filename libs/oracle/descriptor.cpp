#include "oracle/descriptor.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>
#include <utility>

#include "oracle/error.hpp"
#include "oracle/run_format.hpp"

namespace refrain::oracle {

namespace {

/// The program's thread is not cancelled here: it would not be without us.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Nor is the program ended by the signal that a file has reached the size it may have.
class NoSignalOfSize {
 public:
  NoSignalOfSize() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSignalOfSize() {
    const int error = errno;
    const timespec at_once = {};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoSignalOfSize(const NoSignalOfSize&) = delete;
  NoSignalOfSize& operator=(const NoSignalOfSize&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_;
};

/// Once more, if a signal came first.
template <class Call>
auto call(const Call& system_call) {
  const NotCancelled guard;
  auto result = system_call();
  while (result == -1 && errno == EINTR) result = system_call();
  return result;
}

/// A program takes the lowest descriptors for what it reads and writes, or finds them closed: they are left to it.
int moved_up(int descriptor) {
  constexpr int out_of_the_way = 100, first_of_files = 3;
  for (const int least : {out_of_the_way, first_of_files}) {
    const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, least);
    if (moved == -1) continue;
    ::close(descriptor);
    return moved;
  }
  if (descriptor >= first_of_files) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

}  // namespace

// Without waiting: to open a pipe could take for ever.
Descriptor::Descriptor(std::string path, int flags)
    : path_(std::move(path)),
      descriptor_(
          call([&] { return ::open(path_.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666); })) {
  if (descriptor_ != -1) descriptor_ = moved_up(descriptor_);
  if (descriptor_ == -1) fail("cannot be opened");
  struct stat status = {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    identity_ = {status.st_dev, status.st_ino};
    return;
  }
  ::close(descriptor_);
  throw FileError(path_, "is no regular file");
}

Descriptor::~Descriptor() {
  if (is_still_open()) ::close(descriptor_);
}

bool Descriptor::is_still_open() const {
  struct stat status = {};
  return ::fstat(descriptor_, &status) == 0 &&
         FileIdentity{status.st_dev, status.st_ino} == identity_;
}

bool Descriptor::has_a_name() const {
  struct stat status = {};
  return ::fstat(descriptor_, &status) == 0 && status.st_nlink > 0;
}

std::uint64_t Descriptor::size() const {
  struct stat status = {};
  if (::fstat(descriptor_, &status) == -1) fail("its size is not known");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kLargestFile)
    throw FileError(
        path_, "has " + std::to_string(size) + " bytes, more than " + std::to_string(kLargestFile));
  return size;
}

std::size_t Descriptor::read(char* to, std::size_t size, std::uint64_t offset) const {
  std::size_t all = 0;
  while (all < size) {
    const ssize_t more = call([&] {
      return ::pread(descriptor_, to + all, size - all, static_cast<off_t>(offset + all));
    });
    if (more == -1) fail("cannot be read");
    if (more == 0) break;
    all += static_cast<std::size_t>(more);
  }
  return all;
}

void Descriptor::write(std::string_view bytes) const {
  const NoSignalOfSize guard;
  while (!bytes.empty()) {
    const ssize_t written = call([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (written == -1) fail("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Descriptor::write(std::string_view bytes, std::uint64_t offset) const {
  const NoSignalOfSize guard;
  while (!bytes.empty()) {
    const ssize_t written = call([&] {
      return ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (written == -1) fail("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

bool Descriptor::truncate(std::uint64_t size) const {
  return call([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size)); }) == 0;
}

void Descriptor::lock() const { lock_as(LOCK_EX); }

void Descriptor::lock_shared() const { lock_as(LOCK_SH); }

void Descriptor::lock_as(int operation) const {
  if (!is_still_open()) throw FileError(path_, "has been closed by the process");
  if (call([&] { return ::flock(descriptor_, operation); }) == -1) fail("cannot be locked");
}

void Descriptor::unlock() const { ::flock(descriptor_, LOCK_UN); }

void Descriptor::fail(const std::string& what) const {
  throw FileError(path_, what + ": " + std::generic_category().message(errno));
}

}  // namespace refrain::oracle
