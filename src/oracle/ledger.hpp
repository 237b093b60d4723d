#pragma once
// The ledger of a run: a file that whoever started the run gives to its processes. It counts those that do events, and
// takes what they have to say in the end. A line of text each; written by one write(2) under the file's lock.

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/assessment.hpp"
#include "oracle/descriptor.hpp"

namespace refrain::oracle {

class Ledger {
 public:
  /// Of a file that is there. FileError: it cannot be opened.
  explicit Ledger(const std::string& path);

  /// How many processes have been counted, and counts one more.
  std::uint32_t count_process();
  /// At the end of a stream.
  void report(std::uint32_t process, std::uint32_t thread, const Assessment::Counts& counts);
  void say(std::uint32_t process, const std::string& text);

 private:
  void add(const std::string& line);

  const Descriptor file_;
};

/// What is in a ledger. Lines that are none are passed over: a process may have been killed within one.
struct LedgerEntries {
  struct Stream {
    std::uint32_t process, thread;
    Assessment::Counts counts;
  };
  struct Said {
    std::uint32_t process;
    std::string text;
  };
  std::uint32_t processes = 0;
  std::vector<Stream> streams;
  std::vector<Said> said;
};
/// FileError: it cannot be read.
[[nodiscard]] LedgerEntries read_ledger(const std::string& path);

}  // namespace refrain::oracle
