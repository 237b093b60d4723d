#include "oracle/thread_record.hpp"

#include <unordered_set>
#include <utility>

#include "oracle/delays_in_bytes.hpp"
#include "oracle/error.hpp"
#include "oracle/run_format.hpp"
#include "oracle/varints.hpp"

namespace refrain::oracle {

namespace {

std::string_view take_string(Taking& from) { return from.bytes(from.count(1)); }

/// `events`: or `notes`.
InvalidRecord two_have(const std::string& events, std::string_view name) {
  return InvalidRecord("two " + events + " have the name \"" + std::string(name.substr(0, 100)) +
                       "\"");
}

// Nothing is made before it is taken, and the same name twice ends it: bytes that are all alike are packed to next to
// nothing.

std::vector<std::string> take_names(Taking& from) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> different;
  for (std::size_t left = from.count(1); left > 0; --left) {
    const std::string_view name = take_string(from);
    if (!different.insert(name).second) throw two_have("events", name);
    names.emplace_back(name);
  }
  return names;
}

std::vector<Note> take_notes(Taking& from) {
  std::vector<Note> notes;
  std::unordered_set<std::string_view> different;
  for (std::size_t left = from.count(2); left > 0; --left) {
    const std::string_view name = take_string(from);
    if (!different.insert(name).second) throw two_have("notes", name);
    notes.push_back({std::string(name), std::string(take_string(from))});
  }
  return notes;
}

void require_so_few(std::uint64_t symbols) {
  if (symbols > kMostSymbols)
    throw InvalidRecord("the grammar has more than " + std::to_string(kMostSymbols) + " symbols");
}

Grammar take_grammar(Taking& from) {
  std::vector<Use> uses;
  std::vector<std::size_t> begin{0};
  for (std::size_t rules = from.count(1); rules > 0; --rules) {
    std::size_t left = from.count(2);
    require_so_few(uses.size() + left + rules);
    for (; left > 0; --left) {
      const std::uint64_t word = from.number_below(2ull * Symbol::kMost);
      const auto number = static_cast<std::uint32_t>(word / 2);
      const Symbol symbol = word % 2 == 0 ? Symbol::event(number) : Symbol::rule(number);
      uses.push_back({symbol, from.number()});
    }
    begin.push_back(uses.size());
  }
  return Grammar::flat(std::move(uses), std::move(begin));
}

void require_enough_names(const ThreadRecord& record) {
  if (record.names.size() < record.grammar.events())
    throw InvalidRecord("there are " + std::to_string(record.names.size()) + " names for " +
                        std::to_string(record.grammar.events()) + " events");
}

void require_different_names(const ThreadRecord& record) {
  std::unordered_set<std::string_view> different;
  for (const std::string& name : record.names)
    if (!different.insert(name).second) throw two_have("events", name);
}

}  // namespace

std::string encoded(const ThreadRecord& record) {
  require_enough_names(record);
  require_different_names(record);
  std::string bytes;
  put(bytes, record.names.size());
  for (const std::string& name : record.names) put(bytes, name);
  const Grammar& grammar = record.grammar;
  require_so_few(grammar.uses().size() + grammar.rules());
  put(bytes, grammar.rules());
  for (std::uint32_t r = 0; r < grammar.rules(); ++r) {
    put(bytes, grammar.rule(r).size());
    for (const Use& use : grammar.rule(r)) {
      put(bytes, 2ull * use.symbol.number() + (use.symbol.is_rule() ? 1 : 0));
      put(bytes, use.times);
    }
  }
  put_delays(bytes, grammar, record.delays);
  put(bytes, record.notes.size());
  for (const Note& note : record.notes) {
    put(bytes, note.name);
    put(bytes, note.bytes);
  }
  return bytes;
}

ThreadRecord decoded(std::string_view bytes) {
  Taking from(bytes);
  ThreadRecord record;
  record.names = take_names(from);
  record.grammar = take_grammar(from);
  record.delays = take_delays(from, record.grammar);
  record.notes = take_notes(from);
  if (from.left() > 0)
    throw InvalidRecord(std::to_string(from.left()) + " bytes follow the record");
  require_enough_names(record);
  return record;
}

}  // namespace refrain::oracle
