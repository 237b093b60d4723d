#include "oracle/run_reader.hpp"

#include <fcntl.h>
#include <zstd.h>

#include <map>
#include <shared_mutex>
#include <utility>

#include "oracle/descriptor.hpp"
#include "oracle/error.hpp"
#include "oracle/run_format.hpp"

namespace refrain::oracle {

namespace {

/// Not in the middle of what somebody writes.
std::string contents_of(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  const std::shared_lock lock(file);
  std::string bytes(file.size(), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size(), 0));
  return bytes;
}

struct Block {
  std::uint64_t offset;
  BlockHeader header;
  std::string_view contents;
};

std::string unpacked(const Block& block, const std::string& file) {
  std::string bytes(block.header.unpacked, '\0');
  const std::size_t size =
      ZSTD_decompress(bytes.data(), bytes.size(), block.contents.data(), block.contents.size());
  if (ZSTD_isError(size) != 0)
    throw FileError(file, block.offset,
                    std::string("a block cannot be unpacked: ") + ZSTD_getErrorName(size));
  if (size != bytes.size())
    throw FileError(file, block.offset,
                    "a record has " + std::to_string(size) + " bytes, and should have " +
                        std::to_string(bytes.size()));
  return bytes;
}

ThreadRecord record_in(const Block& block, const std::string& file) {
  const std::string bytes = unpacked(block, file);
  try {
    ThreadRecord record = decoded(bytes);
    record.process = block.header.process;
    record.thread = block.header.thread;
    return record;
  } catch (const OracleError& error) {
    throw FileError(file, block.offset, std::string("a record is none: ") + error.what());
  }
}

}  // namespace

RunRecord run_in(std::string_view bytes, const std::string& name) {
  RunRecord run;
  run.program = program_in(name, bytes);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Block> last;
  std::uint64_t offset = header_size(run.program);
  if (bytes.size() - offset < BlockHeader::kSize)
    throw FileError(
        name, "ends after " + std::to_string(bytes.size()) + " bytes, before its first block does");
  while (bytes.size() - offset >= BlockHeader::kSize) {
    const BlockHeader header =
        block_header_in(name, bytes.substr(offset, BlockHeader::kSize), offset);
    const std::uint64_t begin = offset + BlockHeader::kSize;
    if (header.packed > bytes.size() - begin) break;
    const std::string_view contents = bytes.substr(begin, header.packed);
    if (header.is_gap()) {
      offset = begin + header.packed;
      continue;
    }
    if (checksum(contents) != header.checksum)
      throw FileError(name, offset, "the contents of a block are damaged");
    last.insert_or_assign({header.process, header.thread}, Block{offset, header, contents});
    offset = begin + header.packed;
  }
  run.torn = bytes.size() - offset;
  std::uint64_t all = 0;
  for (const auto& [thread, block] : last) all += block.header.unpacked;
  if (all > kLargestRun)
    throw FileError(name, "the records should have " + std::to_string(all) + " bytes, more than " +
                              std::to_string(kLargestRun));
  for (const auto& [thread, block] : last) run.threads.push_back(record_in(block, name));
  return run;
}

RunRecord read_run(const std::string& path, const std::optional<std::string>& program) {
  const std::string bytes = contents_of(path);
  RunRecord run = run_in(bytes, path);
  if (program && run.program != *program)
    throw FileError(path, "is of \"" + run.program + "\", not of \"" + *program + '"');
  return run;
}

}  // namespace refrain::oracle
