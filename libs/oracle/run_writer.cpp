#include "oracle/run_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "oracle/error.hpp"

namespace refrain::oracle {

namespace {

/// What is superseded soon is packed quickly.
std::string packed(const std::string& bytes, RunWriter::Kind kind) {
  const int level = kind == RunWriter::Kind::last ? ZSTD_CLEVEL_DEFAULT : 1;
  std::string contents(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(contents.data(), contents.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0) throw OracleError(ZSTD_getErrorName(size));
  contents.resize(size);
  return contents;
}

/// So many bytes may be of what was superseded anyhow.
constexpr std::uint64_t kLeastSuperseded = 256;

/// A link stays, and what it leads to is replaced.
std::string behind_links(const std::string& path) {
  std::error_code none_there;
  const std::filesystem::path file = std::filesystem::canonical(path, none_there);
  return none_there ? path : file.string();
}

/// Where the blocks begin.
std::uint64_t begin_of_blocks(const Descriptor& file) {
  std::string bytes(kLargestHeader, '\0');
  bytes.resize(file.read(bytes.data(), bytes.size(), 0));
  return header_size(program_in(file.path(), bytes));
}

}  // namespace

void check_replaceable(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISREG(status.st_mode)) throw FileError(path, "is no regular file");
  std::string begin(kMagic.size(), '\0');
  begin.resize(Descriptor(path, O_RDONLY).read(begin.data(), begin.size(), 0));
  if (!kMagic.starts_with(begin))
    throw FileError(path, "is there, and not a file of the oracle, so it is not replaced");
}

void create_run(const std::string& given, std::string_view program) {
  const std::string path = behind_links(given);
  std::string header = run_header(path, program);
  header += block_header(BlockHeader::gap(0), header.size());
  check_replaceable(path);
  const std::string made = path + ".new-" + std::to_string(::getpid());
  ::unlink(made.c_str());
  const Descriptor file(made, O_WRONLY | O_CREAT | O_EXCL);
  try {
    file.write(header);
    if (std::rename(made.c_str(), path.c_str()) != 0)
      throw FileError(path, "cannot be made: " + std::generic_category().message(errno));
  } catch (const FileError&) {
    ::unlink(made.c_str());
    throw;
  }
}

RunWriter::RunWriter(const std::string& path)
    : file_(path, O_RDWR), begin_(begin_of_blocks(file_)) {}

void RunWriter::claim(std::uint32_t process) {
  const std::scoped_lock threads(mutex_);
  const std::scoped_lock processes(file_);
  claimed_ = process;
  pass_what_others_did();
}

void RunWriter::append(const ThreadRecord& record, Kind kind) {
  const std::string bytes = encoded(record);
  if (bytes.size() > kLargestRecord)
    throw FileError(file_.path(), "a record has " + std::to_string(bytes.size()) +
                                      " bytes, more than " + std::to_string(kLargestRecord));
  const std::string contents = packed(bytes, kind);
  const BlockHeader header{static_cast<std::uint32_t>(contents.size()),
                           static_cast<std::uint32_t>(bytes.size()), record.process, record.thread,
                           checksum(contents)};

  const std::scoped_lock threads(mutex_);
  const std::scoped_lock processes(file_);
  pass_what_others_did();
  const std::string block = block_header(header, end_) + contents;
  if (end_ + block.size() > kLargestFile)
    throw FileError(file_.path(),
                    "would have more than " + std::to_string(kLargestFile) + " bytes");
  const auto before = last_.find({record.process, record.thread});
  const std::uint64_t all =
      unpacked_ + bytes.size() - (before == last_.end() ? 0 : before->second.unpacked);
  if (all > kLargestRun)
    throw FileError(file_.path(), "the records would have " + std::to_string(all) +
                                      " bytes, more than " + std::to_string(kLargestRun));
  try {
    file_.write(block, end_);
  } catch (const FileError&) {
    static_cast<void>(file_.truncate(end_));  // if not, the next one to append does it
    throw;
  }
  own_.insert(header.checksum);
  pass(header);
  const std::uint64_t superseded = end_ - first_block() - size_;
  if (superseded > (kind == Kind::last ? size_ / 8 : size_) + kLeastSuperseded) compact();
}

/// Then end_ is where the file ends. A torn end is of a process that was killed, since nobody else has the lock.
void RunWriter::pass_what_others_did() {
  if (!file_.has_a_name())
    throw FileError(
        file_.path(),
        "has been removed or replaced since it was opened, and what is recorded is lost");
  const std::uint64_t size = file_.size();
  const auto header_at = [&](std::uint64_t offset) -> std::optional<BlockHeader> {
    char bytes[BlockHeader::kSize];
    if (file_.read(bytes, sizeof bytes, offset) < sizeof bytes) return std::nullopt;
    return block_header_in(file_.path(), {bytes, sizeof bytes}, offset);
  };
  const std::optional<BlockHeader> first_gap = header_at(begin_);
  if (!first_gap || (first_gap->thread == moved_ && size < end_))
    throw FileError(file_.path(), size, "the file has become shorter");
  if (end_ == 0 || first_gap->thread != moved_) {
    moved_ = first_gap->thread;
    last_.clear();
    size_ = unpacked_ = 0;
    end_ = begin_;
  }
  for (;;) {
    const std::optional<BlockHeader> header = header_at(end_);
    if (!header || header->packed > size - end_ - BlockHeader::kSize) break;
    if (!header->is_gap() && header->process == claimed_ && !own_.contains(header->checksum))
      throw FileError(file_.path(),
                      "has a run of process " + std::to_string(header->process) +
                          " already, which recording would replace: create a new file, or give "
                          "each process a number of its own");
    pass(*header);
  }
  if (end_ < size && !file_.truncate(end_))
    throw FileError(file_.path(), end_, "a torn end cannot be cut off");
}

/// It is at end_.
void RunWriter::pass(const BlockHeader& header) {
  const Block block{end_, BlockHeader::kSize + header.packed, header.unpacked};
  end_ += block.size;
  if (header.is_gap()) return;
  Block& last = last_[{header.process, header.thread}];
  size_ = size_ - last.size + block.size;
  unpacked_ = unpacked_ - last.unpacked + block.unpacked;
  last = block;
}

/// If the disk is full, it is as it was.
void RunWriter::compact() {
  constexpr std::uint64_t page = 4096;
  if (begin_ % page > page - BlockHeader::kSize) return;  // the first gap is not within a page
  try {
    const std::string blocks = blocks_at(first_block());
    std::uint64_t counts_from = end_, end = end_;
    for (const auto& [thread, block] : last_) counts_from = std::min(counts_from, block.offset);
    if (counts_from - first_block() < blocks.size()) {
      if (end_ + blocks.size() > kLargestFile) return;
      counts_from = end_;
      end += blocks.size();
      file_.write(blocks_at(end_), end_);
    }
    open_gap(counts_from);
    const std::uint64_t new_end = first_block() + blocks.size();
    const auto rest = static_cast<std::uint32_t>(end - new_end - BlockHeader::kSize);
    file_.write(blocks + block_header(BlockHeader::gap(rest), new_end), first_block());
    open_gap(first_block());
    static_cast<void>(file_.truncate(new_end));  // if not, there is a gap
  } catch (const FileError&) {}
  end_ = 0;  // all is found out anew
}

/// The first gap ends there.
void RunWriter::open_gap(std::uint64_t end) {
  const auto size = static_cast<std::uint32_t>(end - first_block());
  file_.write(block_header(BlockHeader::gap(size, ++moved_), begin_), begin_);
}

/// All that count, one after the other, for that place.
std::string RunWriter::blocks_at(std::uint64_t offset) const {
  std::string blocks;
  blocks.reserve(size_);
  for (const auto& [thread, block] : last_) {
    std::string bytes(block.size, '\0');
    if (file_.read(bytes.data(), bytes.size(), block.offset) < bytes.size())
      throw FileError(file_.path(), block.offset, "the file has become shorter");
    const BlockHeader header = block_header_in(
        file_.path(), std::string_view(bytes).substr(0, BlockHeader::kSize), block.offset);
    blocks += block_header(header, offset + blocks.size());
    blocks.append(bytes, BlockHeader::kSize);
  }
  return blocks;
}

void Snapshots::taken(std::uint64_t events, std::uint64_t symbols) {
  next_ = std::max(next_, events + std::clamp(16 * symbols, events / 4, events));
}

}  // namespace refrain::oracle
