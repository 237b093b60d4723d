#include "oracle/run_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "oracle/error.hpp"
#include "oracle/run_format.hpp"

namespace refrain::oracle {

namespace {

std::string packed(const std::string& bytes) {
  std::string contents(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(contents.data(), contents.size(), bytes.data(),
                                         bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) throw OracleError(ZSTD_getErrorName(size));
  contents.resize(size);
  return contents;
}

/// A link stays, and what it leads to is replaced.
std::string behind_links(const std::string& path) {
  std::error_code none_there;
  const std::filesystem::path file = std::filesystem::canonical(path, none_there);
  return none_there ? path : file.string();
}

void require_replaceable(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISREG(status.st_mode)) throw FileError(path, "is no regular file");
  std::string begin(kMagic.size(), '\0');
  begin.resize(Descriptor(path, O_RDONLY).read(begin.data(), begin.size(), 0));
  if (!kMagic.starts_with(begin))
    throw FileError(path, "is there, and not a file of the oracle, so it is not replaced");
}

/// Where the blocks begin.
std::uint64_t begin_of_blocks(const Descriptor& file) {
  std::string bytes(kLargestHeader, '\0');
  bytes.resize(file.read(bytes.data(), bytes.size(), 0));
  return header_size(program_in(file.path(), bytes));
}

}  // namespace

void create_run(const std::string& given, std::string_view program) {
  const std::string path = behind_links(given);
  const std::string header = run_header(path, program);
  require_replaceable(path);
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
    : file_(path, O_RDWR | O_APPEND), end_(begin_of_blocks(file_)) {}

void RunWriter::claim(std::uint32_t process) {
  const std::scoped_lock threads(mutex_);
  const std::scoped_lock processes(file_);
  claimed_ = process;
  pass_what_others_appended();
}

void RunWriter::append(const ThreadRecord& record) {
  const std::string bytes = encoded(record);
  if (bytes.size() > kLargestRecord)
    throw FileError(file_.path(), "a record has " + std::to_string(bytes.size()) +
                                      " bytes, more than " + std::to_string(kLargestRecord));
  const std::string contents = packed(bytes);
  const BlockHeader header{static_cast<std::uint32_t>(contents.size()),
                           static_cast<std::uint32_t>(bytes.size()), record.process, record.thread,
                           checksum(contents)};

  const std::scoped_lock threads(mutex_);
  const std::scoped_lock processes(file_);
  pass_what_others_appended();
  const std::string block = block_header(header, end_) + contents;
  if (end_ + block.size() > kLargestFile)
    throw FileError(file_.path(),
                    "would have more than " + std::to_string(kLargestFile) + " bytes");
  const Thread thread{record.process, record.thread};
  const auto before = unpacked_.find(thread);
  const std::uint64_t all = all_ + bytes.size() - (before == unpacked_.end() ? 0 : before->second);
  if (all > kLargestRun)
    throw FileError(file_.path(), "the records would have " + std::to_string(all) +
                                      " bytes, more than " + std::to_string(kLargestRun));
  try {
    file_.write(block);
  } catch (const FileError&) {
    static_cast<void>(file_.truncate(end_));  // if not, the next one to append does it
    throw;
  }
  end_ += block.size();
  count(thread, header.unpacked);
}

/// Then end_ is where the file ends. A torn end is of a process that was killed, since nobody else has the lock.
void RunWriter::pass_what_others_appended() {
  if (!file_.has_a_name())
    throw FileError(
        file_.path(),
        "has been removed or replaced since it was opened, and what is recorded is lost");
  const std::uint64_t size = file_.size();
  if (size < end_) throw FileError(file_.path(), size, "the file has become shorter");
  while (size - end_ >= BlockHeader::kSize) {
    char bytes[BlockHeader::kSize];
    if (file_.read(bytes, sizeof bytes, end_) < sizeof bytes) break;
    const BlockHeader header = block_header_in(file_.path(), {bytes, sizeof bytes}, end_);
    if (header.packed > size - end_ - sizeof bytes) break;
    if (header.process == claimed_)
      throw FileError(file_.path(),
                      "has a run of process " + std::to_string(header.process) +
                          " already, which recording would replace: create a new file, or give "
                          "each process a number of its own");
    end_ += sizeof bytes + header.packed;
    count({header.process, header.thread}, header.unpacked);
  }
  if (end_ < size && !file_.truncate(end_))
    throw FileError(file_.path(), end_, "a torn end cannot be cut off");
}

void RunWriter::count(Thread thread, std::uint32_t unpacked) {
  std::uint32_t& last = unpacked_[thread];
  all_ += unpacked;
  all_ -= std::exchange(last, unpacked);
}

void Snapshots::taken(std::uint64_t events, std::uint64_t symbols) {
  next_ = std::max(next_, events + std::clamp(16 * symbols, events / 4, events));
}

}  // namespace refrain::oracle
