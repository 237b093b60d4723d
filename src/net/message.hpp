#pragma once
// A message between ranks: a header and bytes, in one buffer, so that a transport sends and receives it as it is.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "refrain/error.hpp"

namespace refrain::net {

/// A process of a run, or one of several runtimes in a process: 0 .. ranks - 1.
using Rank = std::uint32_t;

/// What both ends of a message know of it. A transport reads `from`, `to` and `size`; the rest is for the mailbox
/// (net/mailbox.hpp).
struct Header {
  Rank from = 0, to = 0;
  std::uint64_t number = 0;    ///< among the messages from `from` to `to`
  std::uint64_t call = 0;      ///< of the program
  std::uint32_t argument = 0;  ///< of the call
  std::uint32_t kind = 0;      ///< what it is for; the room that sends it has a list
  std::uint64_t size = 0;      ///< of what follows, in bytes
};

class Message {
 public:
  /// A message of `header.size` bytes, which are not initialised.
  explicit Message(const Header& header) : words_(allocate(header.size)) {
    std::memcpy(words_.get(), &header, sizeof header);
  }
  /// A buffer for a message that comes. It has the header of that message once this has been written.
  static Message of_words(std::size_t words) {
    return Message(Header{.size = 8 * words - sizeof(Header)});
  }
  /// A message with this header, but of so many bytes. OutOfMemory says how many there was no room for.
  static Message of_size(Header header, std::size_t bytes) {
    header.size = bytes;
    try {
      return Message(header);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory("no memory for a message of " + std::to_string(bytes) + " bytes");
    }
  }

  [[nodiscard]] const Header& header() const {
    return *reinterpret_cast<const Header*>(words_.get());
  }
  [[nodiscard]] std::span<std::byte> bytes() {
    return {reinterpret_cast<std::byte*>(words_.get()) + sizeof(Header), header().size};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(words_.get()) + sizeof(Header), header().size};
  }
  /// Header and bytes, as words of 8 bytes. Counted so, as much as 16 GiB fit into a count of 31 bits.
  [[nodiscard]] std::uint64_t* words() { return words_.get(); }
  [[nodiscard]] std::size_t word_count() const { return count(header().size); }

 private:
  static_assert(sizeof(Header) % 8 == 0);
  static std::size_t count(std::uint64_t size) { return (sizeof(Header) + size + 7) / 8; }
  static std::unique_ptr<std::uint64_t[]> allocate(std::uint64_t size) {
    auto words = std::make_unique_for_overwrite<std::uint64_t[]>(count(size));
    words[count(size) - 1] = 0;  // all that is sent has a value
    return words;
  }

  std::unique_ptr<std::uint64_t[]> words_;
};

}  // namespace refrain::net
