#include "runtime/report_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "refrain/error.hpp"

namespace refrain::runtime {

ReportFile::ReportFile(std::string path, std::string what)
    : path_(std::move(path)), what_(std::move(what)), out_(path_, std::ios::binary) {
  if (!out_) fail(errno);
}

void ReportFile::append(const std::string& text) {
  const std::lock_guard lock(mutex_);
  out_ << text;
  if (!out_ && error_ == 0) error_ = errno;
}

void ReportFile::close() {
  const std::lock_guard lock(mutex_);
  out_.close();
  if (!out_) fail(error_ != 0 ? error_ : errno);
}

void ReportFile::fail(int error) const {
  throw Error("the " + what_ + " cannot be written to '" + path_ + "': " + std::strerror(error));
}

}  // namespace refrain::runtime
