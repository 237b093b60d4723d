#include "oracle/interface/listed_run.hpp"

#include <span>
#include <utility>

#include "oracle/delays.hpp"
#include "oracle/grammar.hpp"
#include "oracle/occurrences.hpp"
#include "oracle/reference.hpp"

namespace refrain::oracle {

ListedThread::ListedThread(const ThreadRecord& record) {
  const Grammar& grammar = record.grammar;
  thread.process = record.process;
  thread.thread = record.thread;
  thread.length = grammar.length(0);
  thread.events = static_cast<std::uint32_t>(record.names.size());
  thread.rules = static_cast<std::uint32_t>(grammar.rules());
  thread.notes = static_cast<std::uint32_t>(record.notes.size());
  thread.times = record.delays.empty() ? 0 : 1;

  for (const std::string& name : record.names) events.push_back({name.c_str(), name.size(), 0});
  const std::vector<std::uint64_t> counts = rule_occurrences(grammar).of;
  symbols.reserve(grammar.uses().size());  // the rules point into it
  for (std::uint32_t rule = 0; rule < grammar.rules(); ++rule) {
    const std::span<const Use> uses = grammar.rule(rule);
    rules.push_back(
        {symbols.data() + symbols.size(), uses.size(), grammar.length(rule), counts[rule]});
    for (const Use& use : uses) {
      const std::uint32_t number = use.symbol.number();
      symbols.push_back({use.symbol.is_rule() ? 1u : 0u, number, use.times, 0});
      if (!use.symbol.is_rule()) events[number].count += counts[rule] * use.times;
    }
  }
  if (thread.times != 0) {
    const Delays delays(Reference(grammar), record.delays);
    for (std::uint32_t position = 0; position < symbols.size(); ++position)
      symbols[position].delay = delays.mean_repetition(position, symbols[position].times);
  }
  for (const Note& note : record.notes)
    notes.push_back({note.name.c_str(), note.name.size(), note.bytes.data(), note.bytes.size()});
}

ListedRun::ListedRun(const std::string& path) : refrain_oracle_run{}, record_(read_run(path)) {
  for (const ThreadRecord& thread : record_.threads) listed.emplace_back(thread);
  program = record_.program.c_str();
  program_size = record_.program.size();
  threads = listed.size();
  unfinished = record_.torn;
}

void ListedRun::clear() {
  static_cast<refrain_oracle_run&>(*this) = {};
  listed = std::vector<ListedThread>();
  record_ = RunRecord();
}

}  // namespace refrain::oracle
