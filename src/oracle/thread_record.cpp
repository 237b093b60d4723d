#include "oracle/thread_record.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "oracle/bytes.hpp"
#include "oracle/error.hpp"
#include "oracle/reference.hpp"
#include "oracle/run_format.hpp"

namespace refrain::oracle {

namespace {

void put(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  bytes += static_cast<char>(number);
}

void put(std::string& bytes, const std::string& string) {
  put(bytes, string.size());
  bytes += string;
}

/// Takes one thing after the other from the front. InvalidRecord, if it is not there.
class Taking {
 public:
  explicit Taking(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) throw InvalidRecord("the record ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes(1)[0]);
      const std::uint64_t bits = byte & 0x7f;
      if (bits << shift >> shift != bits) break;
      number |= bits << shift;
      if (byte < 0x80) return number;
    }
    throw InvalidRecord("a number has more than 64 bits");
  }
  std::uint64_t number_below(std::uint64_t end) {
    const std::uint64_t taken = number();
    if (taken >= end)
      throw InvalidRecord("a number is " + std::to_string(taken) + ", and has to be below " +
                          std::to_string(end));
    return taken;
  }
  /// How many things of at least `least` bytes each follow: not more than there is room for.
  std::size_t count(std::size_t least) {
    const std::uint64_t taken = number();
    if (taken > rest_.size() / least)
      throw InvalidRecord("there should be " + std::to_string(taken) + " things in " +
                          std::to_string(rest_.size()) + " bytes");
    return taken;
  }

 private:
  std::string_view rest_;
};

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

constexpr std::size_t kSmallestDelay = 4 + 8;

std::vector<Delays::Recorded> take_delays(Taking& from) {
  std::vector<Delays::Recorded> delays(from.count(kSmallestDelay));
  std::uint64_t events = 0;
  double all = 0;
  for (Delays::Recorded& some : delays) {
    const std::uint64_t word = from.number_below(2ull << 32);
    some.context.position = static_cast<std::uint32_t>(word / 2);
    some.context.again = word % 2 != 0;
    // One is added to what may be unknown, so that this is 0.
    const auto take = [&] { return static_cast<std::uint32_t>(from.number_below(1ull << 32)); };
    some.context.around = take() - 1;
    some.context.outermost = take() - 1;
    some.count = from.number();
    some.sum = std::bit_cast<double>(load<std::uint64_t>(from.bytes(8)));
    all += some.sum;
    if (!std::isfinite(all) || some.sum < 0) throw InvalidRecord("a sum of times is none");
    if (__builtin_add_overflow(events, some.count, &events))
      throw InvalidRecord("more events have times than there can be");
  }
  return delays;
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
  put(bytes, record.delays.size());
  for (const Delays::Recorded& some : record.delays) {
    put(bytes, 2ull * some.context.position + (some.context.again ? 1 : 0));
    put(bytes, some.context.around + 1);
    put(bytes, some.context.outermost + 1);
    put(bytes, some.count);
    store(bytes, std::bit_cast<std::uint64_t>(some.sum));
  }
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
  record.delays = take_delays(from);
  record.notes = take_notes(from);
  if (from.left() > 0)
    throw InvalidRecord(std::to_string(from.left()) + " bytes follow the record");
  require_enough_names(record);
  if (!record.delays.empty()) {
    const Reference reference(record.grammar);
    const Delays required(reference, record.delays);
  }
  return record;
}

}  // namespace refrain::oracle
