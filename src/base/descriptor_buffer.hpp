#pragma once
// The buffer of a stream that writes by a descriptor which others write by, too: what they write comes before or after
// it, and is not overwritten, since all share one place in the file.

#include <array>
#include <cstddef>
#include <optional>
#include <streambuf>
#include <string>

namespace refrain {

class DescriptorBuffer final : public std::streambuf {
 public:
  /// Keeps a duplicate; errno tells why there is none where is_open() is false.
  explicit DescriptorBuffer(int descriptor);
  /// What was not flushed is lost.
  ~DescriptorBuffer() override;
  DescriptorBuffer(const DescriptorBuffer&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  const int descriptor_;
  std::array<char, std::size_t{1} << 14> bytes_;
};

/// The descriptor by which this process writes to that file already: standard output or error, by whatever name
/// ("/dev/stdout", that of the file it leads to), or one named by number ("/dev/fd/7").
std::optional<int> descriptor_of(const std::string& path);

}  // namespace refrain
