#pragma once
// What `refrain oracle` prints of files and of runs.

#include <string>

#include "oracle/ledger.hpp"
#include "oracle/run_reader.hpp"

namespace refrain::tools {

/// Without what a terminal takes for a command: quotation marks and backslashes have a backslash before them, bytes
/// that are not ASCII's are "\xNN".
std::string escaped(const std::string& text);

/// A line: how many processes, threads, events and rules.
std::string run_summary(const oracle::RunRecord& run);

/// What there is to say before a command is run beside this reference, a line or nothing.
std::string reference_fault(const oracle::RunRecord& reference, const std::string& file);

/// The grammar of each thread as the paper's Figure 7 has it, once for those that are alike. Names with anything odd
/// in them are in quotation marks and escaped, so that no two look alike, and none like a rule or a repetition.
/// `times`: the mean time of each symbol is behind it, where times were recorded.
std::string run_grammars(const oracle::RunRecord& run, bool times = false);

/// The notes of each thread, of those that have any: a line with its name and its size, then its own lines, indented
/// and escaped.
std::string run_notes(const oracle::RunRecord& run);

/// How many events were expected, how many predictions were right by their distance, and the time spent, of all streams
/// together; then what the processes had to say.
std::string accuracy_report(const oracle::LedgerEntries& ledger);

}  // namespace refrain::tools
