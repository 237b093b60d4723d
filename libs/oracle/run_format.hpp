#pragma once
// The file of a run: a header, then blocks, and nothing else. A block is the whole record of one thread as it was at
// some time; of a thread the last block counts. Blocks are appended, so whoever is killed leaves what is there, and
// behind it at most the beginning of a block, the *torn end*.
//
//   header   magic (8 bytes), version (4), size of the program's name (4), checksum of all this and the name (8); name
//   block    size of the contents as they are here (4) and unpacked (4), process (4), thread (4), checksum of the
//            contents (8), checksum of all this (8); the contents: encoded(ThreadRecord), packed by zstd
//
// A block whose contents have no bytes unpacked is a *gap*: its contents are anything. The first block of a file is one,
// and its `thread` a number that changes whenever blocks have been moved: what others know of the file is then void.
//
// Numbers begin with their lowest byte. Checksums are 64-bit XXH3; that of a block's header is seeded with its place in
// the file, so that no block counts in another place. Sizes have a checksum of their own, so a block that reaches
// beyond the end of the file is torn, not damaged. Everything else that is not as it should be is damage, and an error.

#include <cstdint>
#include <string>
#include <string_view>

namespace refrain::oracle {

inline constexpr std::string_view kMagic{"\x89RfrOrc\n", 8};
inline constexpr std::uint32_t kVersion = 3;

// Nobody writes more, and a reader believes no more.
inline constexpr std::uint64_t kLargestFile = 1ull << 30;
inline constexpr std::uint64_t kLargestProgram = 1ull << 16;
/// Unpacked: of a record, and of all that count.
inline constexpr std::uint64_t kLargestRecord = 1ull << 26;
inline constexpr std::uint64_t kLargestRun = 1ull << 28;
/// Of a record: all its notes and their names.
inline constexpr std::uint64_t kLargestNotes = 1ull << 24;
/// Of a record's grammar: its uses and rules, which need many times the memory that they have bytes in a file.
inline constexpr std::uint64_t kMostSymbols = 1ull << 22;
/// Of an event.
inline constexpr std::uint64_t kLongestName = 1ull << 16;

/// FileError: the program's name is too long.
[[nodiscard]] std::string run_header(const std::string& file, std::string_view program);

/// The size of a header with the longest name.
inline constexpr std::size_t kLargestHeader = 24 + kLargestProgram;
/// The program's name, out of a file's beginning: kLargestHeader bytes, or all there are. FileError, if it is none.
[[nodiscard]] std::string_view program_in(const std::string& file, std::string_view beginning);
/// How many bytes such a header has.
[[nodiscard]] std::size_t header_size(std::string_view program);

struct BlockHeader {
  static constexpr std::size_t kSize = 32;

  std::uint32_t packed;
  std::uint32_t unpacked;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint64_t checksum;

  /// The contents are anything.
  [[nodiscard]] bool is_gap() const { return unpacked == 0; }
  static BlockHeader gap(std::uint32_t size, std::uint32_t number = 0) {
    return {size, 0, 0, number, 0};
  }
};
[[nodiscard]] std::string block_header(const BlockHeader& header, std::uint64_t offset);
/// Requires BlockHeader::kSize bytes. `offset`: where they are. FileError, if they are damaged or say too much.
[[nodiscard]] BlockHeader block_header_in(const std::string& file, std::string_view bytes,
                                          std::uint64_t offset);

[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

}  // namespace refrain::oracle
