#pragma once
// A run that was read from its file, in the structures of refrain/oracle.h: they point into the records. How often
// events and rules come follows from the grammar. Immutable, but for clear(); any number of threads read it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/run_reader.hpp"
#include "refrain/oracle.h"

namespace refrain::oracle {

/// One thread's. Everything holds as long as the record, which stays where it is.
struct ListedThread {
  explicit ListedThread(const ThreadRecord& record);
  ListedThread(const ListedThread&) = delete;
  ListedThread& operator=(const ListedThread&) = delete;
  ListedThread(ListedThread&&) = default;

  refrain_oracle_listed_thread thread{};
  std::vector<refrain_oracle_listed_event> events;
  std::vector<refrain_oracle_listed_rule> rules;
  std::vector<refrain_oracle_symbol> symbols;  ///< of all rules, one after the other
  std::vector<refrain_oracle_listed_note> notes;
};

struct ListedRun : refrain_oracle_run {
  /// FileError: as read_run().
  explicit ListedRun(const std::string& path);
  ListedRun(const ListedRun&) = delete;
  ListedRun& operator=(const ListedRun&) = delete;
  /// Nothing is listed any more.
  void clear();

  std::vector<ListedThread> listed;

 private:
  RunRecord record_;
};

}  // namespace refrain::oracle
