#pragma once
// The ledger of a run: a file that whoever started the run gives to its processes. It counts those that do events, and
// takes what they have to say in the end. A line of text each; written by one write(2) under the file's lock. The
// program's locale does not matter.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/assessment.hpp"
#include "oracle/descriptor.hpp"

namespace refrain::oracle {

class Ledger {
 public:
  /// Of a file that is there. FileError: it cannot be opened.
  explicit Ledger(const std::string& path);

  /// A number that no process has had: its rank, or, without one, the lowest from 0 on. Where the rank is taken, as in
  /// a child of its process, the lowest from kOthers on.
  std::uint32_t count_process(std::optional<std::uint32_t> rank);
  static constexpr std::uint32_t kOthers = 1u << 24;
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
  std::vector<std::uint32_t> processes;
  std::vector<Stream> streams;
  std::vector<Said> said;
};
/// FileError: it cannot be read.
[[nodiscard]] LedgerEntries read_ledger(const std::string& path);

}  // namespace refrain::oracle
