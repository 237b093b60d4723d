#include "report/report_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "refrain/error.hpp"

namespace refrain::runtime {

ReportFile::ReportFile(std::string path, std::string what)
    : path_(std::move(path)), what_(std::move(what)), file_(path_) {
  if (file_.error() != 0) fail(file_.error());
}

void ReportFile::append(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) return;
  file_.out() << text;
  if (!file_.out() && error_ == 0) error_ = errno;
}

void ReportFile::close(const std::string& last) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) return;
  file_.out() << last;
  const int error = file_.keep();
  if (error_ == 0) error_ = error;
  if (error_ != 0) fail(error_);
}

void ReportFile::fail(int error) const {
  throw Error("the " + what_ + " cannot be written to '" + path_ + "': " + std::strerror(error));
}

}  // namespace refrain::runtime
