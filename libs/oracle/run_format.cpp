#include "oracle/run_format.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "oracle/bytes.hpp"
#include "oracle/error.hpp"

namespace refrain::oracle {

namespace {

constexpr std::size_t kVersionAt = kMagic.size();
constexpr std::size_t kProgramSizeAt = kVersionAt + 4;
constexpr std::size_t kChecksumAt = kProgramSizeAt + 4;
constexpr std::size_t kProgramAt = kChecksumAt + 8;
static_assert(kLargestHeader == kProgramAt + kLargestProgram);

constexpr std::size_t kBlockChecksumAt = BlockHeader::kSize - 8;

std::uint64_t checksum_of_header(std::string_view before, std::string_view program) {
  return XXH3_64bits_withSeed(program.data(), program.size(), checksum(before));
}

}  // namespace

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::size_t header_size(std::string_view program) { return kProgramAt + program.size(); }

std::string run_header(const std::string& file, std::string_view program) {
  if (program.size() > kLargestProgram)
    throw FileError(file, "the program's name has " + std::to_string(program.size()) +
                              " bytes, more than " + std::to_string(kLargestProgram));
  std::string bytes(kMagic);
  store(bytes, kVersion);
  store(bytes, static_cast<std::uint32_t>(program.size()));
  store(bytes, checksum_of_header(bytes, program));
  return bytes.append(program);
}

std::string_view program_in(const std::string& file, std::string_view beginning) {
  if (beginning.empty()) throw FileError(file, "is empty");
  if (beginning.substr(0, kMagic.size()) != kMagic.substr(0, beginning.size()))
    throw FileError(file, "is not a file of the oracle");
  const auto require = [&](std::size_t size) {
    if (beginning.size() < size)
      throw FileError(file, "ends after " + std::to_string(beginning.size()) +
                                " bytes, before its header does");
  };
  require(kProgramSizeAt);
  const auto version = load<std::uint32_t>(beginning, kVersionAt);
  if (version != kVersion)
    throw FileError(file, "has version " + std::to_string(version) + " of the format, not " +
                              std::to_string(kVersion) + "; record the run anew");
  require(kProgramAt);
  const std::uint64_t size = load<std::uint32_t>(beginning, kProgramSizeAt);
  if (size > kLargestProgram)
    throw FileError(file, kProgramSizeAt,
                    "the program's name should have " + std::to_string(size) + " bytes");
  require(kProgramAt + size);
  const std::string_view program = beginning.substr(kProgramAt, size);
  if (load<std::uint64_t>(beginning, kChecksumAt) !=
      checksum_of_header(beginning.substr(0, kChecksumAt), program))
    throw FileError(file, 0, "the header is damaged");
  return program;
}

std::string block_header(const BlockHeader& header, std::uint64_t offset) {
  std::string bytes;
  bytes.reserve(BlockHeader::kSize);
  store(bytes, header.packed);
  store(bytes, header.unpacked);
  store(bytes, header.process);
  store(bytes, header.thread);
  store(bytes, header.checksum);
  store(bytes, XXH3_64bits_withSeed(bytes.data(), bytes.size(), offset));
  return bytes;
}

BlockHeader block_header_in(const std::string& file, std::string_view bytes, std::uint64_t offset) {
  if (load<std::uint64_t>(bytes, kBlockChecksumAt) !=
      XXH3_64bits_withSeed(bytes.data(), kBlockChecksumAt, offset))
    throw FileError(file, offset, "the header of a block is damaged");
  const BlockHeader header{load<std::uint32_t>(bytes, 0), load<std::uint32_t>(bytes, 4),
                           load<std::uint32_t>(bytes, 8), load<std::uint32_t>(bytes, 12),
                           load<std::uint64_t>(bytes, 16)};
  if (header.unpacked > kLargestRecord)
    throw FileError(file, offset,
                    "a record should have " + std::to_string(header.unpacked) +
                        " bytes, more than " + std::to_string(kLargestRecord));
  return header;
}

}  // namespace refrain::oracle
