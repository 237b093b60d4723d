#pragma once
// What messages between shards consist of beside values: failures, and the points that have them.
//
// A failure is known by what threw it, which every shard calls by the same numbers. So the same failure is one object on
// a shard, whatever ways it comes: who has been told of it once is not told again.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/poison.hpp"
#include "graph/failure.hpp"
#include "net/mailbox.hpp"

namespace refrain::replication {

class Writer {
 public:
  void number(std::uint64_t value) { raw(&value, sizeof value); }
  void text(std::string_view text) {
    number(text.size());
    raw(text.data(), text.size());
  }
  void bytes(std::span<const std::byte> bytes) { raw(bytes.data(), bytes.size()); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void raw(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> bytes_;
};

/// What it is asked for and does not have is a net::WrongMessage.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const std::size_t size = number();
    const std::span<const std::byte> found = take(size);
    return {reinterpret_cast<const char*>(found.data()), size};
  }
  std::span<const std::byte> bytes(std::size_t size) { return take(size); }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size);
  std::span<const std::byte> bytes_;
};

/// Behind `size` bytes of values: begins with a word that says so, which values of a message that is too long do not.
void begin_trailer(Writer& to, std::size_t size);
/// What comes after that word; nothing where a message ends with its values. WrongMessage where another word is there.
Reader trailer_of(std::span<const std::byte> message, std::size_t size);

/// The failures of a program that its shard knows of. Any thread.
class KnownFailures {
 public:
  /// `scope`: of the program's context here.
  explicit KnownFailures(std::uint64_t scope) : scope_(scope) {}

  /// Of one that was made here, or has come.
  void write(Writer& to, const exec::FailureRef& failure);
  exec::FailureRef read(Reader& from);
  /// Forgets those that nobody else holds.
  void sweep();

 private:
  const std::uint64_t scope_;
  std::mutex mutex_;
  std::map<exec::Failure::Origin, exec::FailureRef> known_;
};

/// Points and their failures.
void write(Writer& to, std::span<const analysis::Poisoned> poisoned, KnownFailures& failures);
std::vector<analysis::Poisoned> read_poisoned(Reader& from, int dim, KnownFailures& failures);

}  // namespace refrain::replication
