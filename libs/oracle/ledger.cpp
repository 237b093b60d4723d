#include "oracle/ledger.hpp"

#include <fcntl.h>

#include <algorithm>
#include <locale>
#include <mutex>
#include <sstream>
#include <string_view>

namespace refrain::oracle {

namespace {

constexpr std::string_view kProcess = "process", kStream = "stream", kSaid = "said";

std::string contents(const Descriptor& file) {
  std::string bytes(file.size(), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size(), 0));
  return bytes;
}

LedgerEntries entries_in(const std::string& text) {
  LedgerEntries entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    std::string kind;
    words >> kind;
    if (kind == kProcess) {
      std::uint32_t number = 0;
      if (words >> number) entries.processes.push_back(number);
    } else if (kind == kStream) {
      LedgerEntries::Stream stream{};
      auto& counts = stream.counts;
      words >> stream.process >> stream.thread >> counts.events >> counts.expected >>
          counts.unexpected >> counts.unknown >> counts.seconds;
      for (std::size_t d = 0; d < Assessment::kDistances; ++d)
        words >> counts.predicted[d] >> counts.right[d];
      if (words) entries.streams.push_back(stream);
    } else if (kind == kSaid) {
      LedgerEntries::Said said{};
      words >> said.process >> std::ws;
      std::getline(words, said.text);
      if (!said.text.empty()) entries.said.push_back(said);
    }
  }
  return entries;
}

}  // namespace

Ledger::Ledger(const std::string& path) : file_(path, O_RDWR | O_APPEND) {}

std::uint32_t Ledger::count_process(std::optional<std::uint32_t> rank) {
  const std::scoped_lock lock(file_);
  const std::vector<std::uint32_t> taken = entries_in(contents(file_)).processes;
  const auto is_taken = [&](std::uint32_t number) { return std::ranges::count(taken, number) > 0; };
  std::uint32_t number = rank.value_or(0);
  if (rank && is_taken(number)) number = kOthers;
  while (is_taken(number)) ++number;
  file_.write(std::string(kProcess) + ' ' + std::to_string(number) + '\n');
  return number;
}

void Ledger::report(std::uint32_t process, std::uint32_t thread, const Assessment::Counts& counts) {
  std::ostringstream line;
  line.imbue(std::locale::classic());
  line << kStream << ' ' << process << ' ' << thread << ' ' << counts.events << ' '
       << counts.expected << ' ' << counts.unexpected << ' ' << counts.unknown << ' '
       << counts.seconds;
  for (std::size_t d = 0; d < Assessment::kDistances; ++d)
    line << ' ' << counts.predicted[d] << ' ' << counts.right[d];
  line << '\n';
  add(line.str());
}

void Ledger::say(std::uint32_t process, const std::string& text) {
  std::string line = std::string(kSaid) + ' ' + std::to_string(process) + ' ' + text;
  std::ranges::replace(line, '\n', ' ');
  add(line + '\n');
}

void Ledger::add(const std::string& line) {
  const std::scoped_lock lock(file_);
  file_.write(line);
}

LedgerEntries read_ledger(const std::string& path) {
  return entries_in(contents(Descriptor(path, O_RDONLY)));
}

}  // namespace refrain::oracle
