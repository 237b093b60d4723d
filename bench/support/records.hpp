#pragma once
// What a benchmark leaves behind: a JSON list of records, one number each. The six naming keys
// (benchmark, system, variant, threads, size, metric) are unique in a file; a second record with
// the same name is a mistake of the benchmark and throws. One thread; cost is that of a linear search.

#include <cstdint>
#include <string>
#include <vector>

#include "support/statistics.hpp"

namespace refrain::bench {

struct Record {
  std::string benchmark;
  std::string system;
  std::string variant;  ///< "" where there is none
  int threads = 1;      ///< all threads that issue or execute
  std::int64_t size = 0;
  std::string metric;
  std::string unit;
  Spread value;
};

/// Collects records and writes them as JSON.
class Records {
 public:
  /// Throws std::logic_error when a record of the same name is there already.
  void add(Record record);
  const std::vector<Record>& all() const { return records_; }
  /// Writes the list to `path`; an empty path writes nothing. Throws std::runtime_error when the
  /// file cannot be written.
  void write(const std::string& path) const;

 private:
  std::vector<Record> records_;
};

}  // namespace refrain::bench
