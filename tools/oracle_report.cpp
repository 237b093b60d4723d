#include "oracle_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "oracle/delays.hpp"
#include "oracle/reference.hpp"

namespace refrain::tools {

std::string escaped(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '"' || c == '\\') line += '\\';
    if (c >= ' ' && c <= '~') line += c;
    else line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return line;
}

namespace {

using oracle::Assessment;
using oracle::LedgerEntries;
using oracle::RunRecord;
using oracle::ThreadRecord;

std::string counted(std::uint64_t number, const std::string& one, const std::string& many) {
  return grouped(number) + ' ' + (number == 1 ? one : many);
}
std::string counted(std::uint64_t number, const std::string& one) {
  return counted(number, one, one + 's');
}

/// As grammars write rules.
bool looks_like_a_rule(const std::string& name) {
  const bool digits = name.find_first_not_of("0123456789", 1) == std::string::npos;
  return name[0] >= 'A' && name[0] <= 'Z' && digits;
}

/// With anything odd in it, in quotation marks: no two look alike, and none like what is not a name.
std::string shown(const std::string& name) {
  const bool plain = !name.empty() && escaped(name) == name &&
                     name.find_first_of(" ^") == std::string::npos && !looks_like_a_rule(name);
  return plain ? name : '"' + escaped(name) + '"';
}

/// Which of a run's streams: "process 0, threads 0 and 3-5".
std::string shown(std::uint32_t process, const std::vector<std::uint32_t>& threads) {
  std::string numbers;
  for (std::size_t first = 0, last = 0; first < threads.size(); first = last + 1) {
    last = first;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) ++last;
    if (first > 0) numbers += ", ";
    numbers += first == last ? fmt::format("{}", threads[first])
                             : fmt::format("{}-{}", threads[first], threads[last]);
  }
  return fmt::format("process {}, thread{} {}", process, threads.size() == 1 ? "" : "s", numbers);
}

/// Of nanoseconds, to three digits.
std::string shown_time(double ns) {
  for (const char* const unit : {"ns", "us", "ms"}) {
    if (ns < 999.5) return fmt::format("{:.3g} {}", ns, unit);
    ns /= 1000;
  }
  return fmt::format("{:.4g} s", ns);
}

std::string text_of(const ThreadRecord& record, bool times) {
  const auto name = [&](std::uint32_t event) { return shown(record.names[event]); };
  if (!times || record.delays.empty()) return record.grammar.text(name);
  const oracle::Reference reference(record.grammar);
  const oracle::Delays delays(reference, record.delays);
  return record.grammar.text(name, [&](std::size_t use) {
    const auto position = static_cast<std::uint32_t>(use);
    return fmt::format(" ({})",
                       shown_time(delays.mean_repetition(position, reference.use(position).times)));
  });
}

std::string percent(std::uint64_t part, std::uint64_t all) {
  return all == 0
             ? "-"
             : fmt::format("{:.1f}", 100. * static_cast<double>(part) / static_cast<double>(all));
}

Assessment::Counts sum_of(const LedgerEntries& ledger) {
  Assessment::Counts sum;
  for (const LedgerEntries::Stream& stream : ledger.streams) {
    const Assessment::Counts& counts = stream.counts;
    sum.events += counts.events;
    sum.expected += counts.expected;
    sum.unexpected += counts.unexpected;
    sum.unknown += counts.unknown;
    sum.seconds += counts.seconds;
    for (std::size_t d = 0; d < Assessment::kDistances; ++d) {
      sum.predicted[d] += counts.predicted[d];
      sum.right[d] += counts.right[d];
    }
  }
  return sum;
}

}  // namespace

std::string run_summary(const RunRecord& run) {
  std::set<std::uint32_t> processes;
  std::uint64_t events = 0, rules = 0;
  for (const ThreadRecord& record : run.threads) {
    processes.insert(record.process);
    events += record.grammar.length(0);
    rules += record.grammar.rules();
  }
  return fmt::format("{} in {} of {}: {}", counted(events, "event"),
                     counted(run.threads.size(), "stream"),
                     counted(processes.size(), "process", "processes"), counted(rules, "rule"));
}

std::string reference_fault(const RunRecord& reference, const std::string& file) {
  if (!reference.threads.empty()) return {};
  return fmt::format("refrain oracle: no thread is recorded in {}, so nothing can be predicted\n",
                     file);
}

std::string run_grammars(const RunRecord& run, bool times) {
  struct Alike {
    std::string text;
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> streams;  // by process
    std::uint64_t events;
  };
  std::vector<Alike> all;
  for (const ThreadRecord& record : run.threads) {
    const std::string text = text_of(record, times);
    auto alike = std::ranges::find(all, text, &Alike::text);
    if (alike == all.end()) alike = all.insert(all.end(), {text, {}, record.grammar.length(0)});
    if (alike->streams.empty() || alike->streams.back().first != record.process)
      alike->streams.push_back({record.process, {}});
    alike->streams.back().second.push_back(record.thread);
  }
  std::string text;
  for (const Alike& alike : all) {
    for (const auto& [process, threads] : alike.streams) text += shown(process, threads) + "; ";
    text.resize(text.size() - 2);
    text += fmt::format(": {}\n{}\n", counted(alike.events, "event"), alike.text);
  }
  return text;
}

std::string run_notes(const RunRecord& run) {
  std::string text;
  for (const ThreadRecord& record : run.threads) {
    if (record.notes.empty()) continue;
    text += fmt::format("{}: {}\n", shown(record.process, {record.thread}),
                        counted(record.notes.size(), "note"));
    for (const oracle::Note& note : record.notes) {
      text += fmt::format("{}: {}\n", shown(note.name), counted(note.bytes.size(), "byte"));
      std::istringstream lines(note.bytes);
      for (std::string line; std::getline(lines, line);) text += "  " + escaped(line) + '\n';
    }
    text += '\n';
  }
  return text;
}

std::string accuracy_report(const LedgerEntries& ledger) {
  if (ledger.streams.empty())
    return "no process has told how much was right: none has come to its end, or none uses MPI or "
           "GNU OpenMP\n";
  const Assessment::Counts sum = sum_of(ledger);
  std::string text =
      fmt::format("{} in {}: {}% expected, {}% unexpected, {}% never in the reference\n",
                  counted(sum.events, "event"), counted(ledger.streams.size(), "stream"),
                  percent(sum.expected, sum.events), percent(sum.unexpected, sum.events),
                  percent(sum.unknown, sum.events));
  text += "right at distance ";
  for (std::size_t d = 0; d < Assessment::kDistances; ++d)
    text += fmt::format("{:>7}", std::uint64_t{1} << d);
  text += "\n          percent ";
  for (std::size_t d = 0; d < Assessment::kDistances; ++d)
    text += fmt::format("{:>7}", percent(sum.right[d], sum.predicted[d]));
  text += fmt::format("\n{:.3f} s in the oracle", sum.seconds);
  if (sum.events > 0)
    text +=
        fmt::format(", {:.0f} ns per event", 1e9 * sum.seconds / static_cast<double>(sum.events));
  text += '\n';
  for (const LedgerEntries::Said& said : ledger.said)
    text += fmt::format("process {}: {}\n", said.process, said.text);
  return text;
}

}  // namespace refrain::tools
