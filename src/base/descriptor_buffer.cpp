#include "base/descriptor_buffer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <vector>

namespace refrain {

DescriptorBuffer::DescriptorBuffer(int descriptor)
    : descriptor_(fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

DescriptorBuffer::~DescriptorBuffer() {
  if (is_open()) close(descriptor_);
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

int DescriptorBuffer::sync() {
  for (const char* at = pbase(); at != pptr();) {
    const ssize_t written = write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
    if (written < 0 && errno != EINTR) return -1;
    if (written > 0) at += written;
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return 0;
}

namespace {

bool is_written_by(int descriptor, const struct stat& file) {
  struct stat written {};
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(descriptor, &written) == 0 &&
         written.st_dev == file.st_dev && written.st_ino == file.st_ino;
}

}  // namespace

std::optional<int> descriptor_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  std::vector<int> candidates{STDOUT_FILENO, STDERR_FILENO};
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path given(path);
  if (fs::canonical(given.parent_path(), none) == fs::canonical("/proc/self/fd", none)) {
    const std::string name = given.filename().string();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    candidates.insert(candidates.begin(), number);
  }
  for (const int descriptor : candidates)
    if (is_written_by(descriptor, file)) return descriptor;
  return {};
}

}  // namespace refrain
