#include "replication/control_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "base/hash.hpp"
#include "net/all_reduce.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

namespace {

using net::Bytes;
using net::Rank;

/// What the ranks compare: one sum for all calls of an interval.
struct Sum {
  std::uint64_t low = 0, high = 0, calls = 0, differ = 0;
};

Bytes bytes_of(const Sum& sum) {
  Bytes bytes(sizeof sum);
  std::memcpy(bytes.data(), &sum, sizeof sum);
  return bytes;
}
Sum sum_of(std::span<const std::byte> bytes) {
  Sum sum;
  std::memcpy(&sum, bytes.data(), sizeof sum);
  return sum;
}

void add_sum(Bytes& into, std::span<const std::byte> next) {
  Sum sum = sum_of(into);
  const Sum other = sum_of(next);
  sum.differ |= other.differ;
  if (sum.low != other.low || sum.high != other.high || sum.calls != other.calls) sum.differ = 1;
  into = bytes_of(sum);
}

/// A call as another rank is told of it.
struct ToldCall {
  std::uint64_t low = 0, high = 0;
  std::string name, where;
};

/// The calls of a rank that it does not know to be the same everywhere.
struct Told {
  std::uint64_t first = 0;  ///< number of the first one
  std::vector<ToldCall> calls;
  bool in_call = false;  ///< the last one goes on: its hash is not all

  [[nodiscard]] bool has(std::uint64_t number) const {
    return number >= first && number - first < calls.size();
  }
  [[nodiscard]] const ToldCall& at(std::uint64_t number) const { return calls[number - first]; }
  [[nodiscard]] bool is_complete(std::uint64_t number) const {
    return !in_call || number - first + 1 < calls.size();
  }
};

/// Copies both ends of a text, which is as long as two words at most, and at least as one; the words.
template <class Word>
std::uint64_t copy_ends(char* to, std::string_view text) {
  Word first, last;
  std::memcpy(&first, text.data(), sizeof first);
  std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + text.size() - sizeof last, &last, sizeof last);
  return (first ^ std::rotl(std::uint64_t{last}, 32)) + text.size();
}

[[gnu::noinline]] std::uint64_t note_other_name(NotedCall& call, std::string_view name) {
  call.name_size = static_cast<std::uint32_t>(std::min(name.size(), call.name.size()));
  std::ranges::copy(name.substr(0, call.name_size), call.name.begin());
  return hash_bytes(name.data(), name.size());
}

/// Copies the name, as much as fits. A word to tell names apart. Not by calls, one to copy and one to hash: they
/// would cost more than all the rest of a call's check.
[[gnu::always_inline]] inline std::uint64_t note_name(NotedCall& call, std::string_view name) {
  call.name_size = static_cast<std::uint32_t>(name.size());
  char* const to = call.name.data();
  if (name.size() - 4 <= 4) return copy_ends<std::uint32_t>(to, name);
  if (name.size() - 8 <= 8) return copy_ends<std::uint64_t>(to, name);
  return note_other_name(call, name);
}

void write(Writer& to, const Told& told) {
  to.number(told.first);
  to.number(told.in_call ? 1 : 0);
  to.number(told.calls.size());
  for (const ToldCall& call : told.calls) {
    to.number(call.low);
    to.number(call.high);
    to.text(call.name);
    to.text(call.where);
  }
}

Told read_told(Reader& from) {
  Told told;
  told.first = from.number();
  told.in_call = from.number() != 0;
  told.calls.resize(from.number());
  for (ToldCall& call : told.calls) {
    call.low = from.number();
    call.high = from.number();
    call.name = from.text();
    call.where = from.text();
  }
  return told;
}

/// Whether two ranks differ in a call that both have begun.
bool differ(const Told& a, const Told& b, std::uint64_t number) {
  if (!a.has(number) || !b.has(number)) return false;
  const ToldCall &of_a = a.at(number), &of_b = b.at(number);
  if (!a.is_complete(number) || !b.is_complete(number)) return of_a.name != of_b.name;
  return of_a.low != of_b.low || of_a.high != of_b.high;
}

/// Of calls that are not the same on every rank, the first, in words. Empty: there is none.
std::string word(const std::vector<Told>& by_rank) {
  std::uint64_t first = 0, end = 0;
  for (const Told& told : by_rank) {
    first = std::max(first, told.first);
    end = std::max(end, told.first + told.calls.size());
  }
  const auto is_same = [&](std::uint64_t number) {
    for (const Told& a : by_rank)
      for (const Told& b : by_rank)
        if (differ(a, b, number)) return false;
    return true;
  };
  std::uint64_t number = first;
  while (number < end && is_same(number)) ++number;
  if (number == end) return {};
  std::string text = fmt::format(
      "refrain: the ranks do not make the same calls, as control replication needs them to. Call "
      "{} is",
      number);
  // Groups of ranks that say the same, by their first ranks.
  std::vector<std::pair<std::vector<Rank>, const ToldCall*>> groups;
  for (Rank rank = 0; rank < by_rank.size(); ++rank) {
    if (!by_rank[rank].has(number)) continue;
    const ToldCall& call = by_rank[rank].at(number);
    const auto group = std::ranges::find_if(groups, [&](const auto& each) {
      return each.second->name == call.name && each.second->where == call.where &&
             !differ(by_rank[each.first[0]], by_rank[rank], number);
    });
    if (group == groups.end()) groups.push_back({{rank}, &call});
    else group->first.push_back(rank);
  }
  for (const auto& [ranks, call] : groups) {
    const auto equal_text = [&call = call](const auto& other) {
      return other.second->name == call->name && other.second->where == call->where;
    };
    text += "\n  on rank ";
    for (const Rank rank : ranks) text += (rank == ranks[0] ? "" : ", ") + std::to_string(rank);
    text += fmt::format(": {} at {}", call->name, call->where);
    if (std::ranges::count_if(groups, equal_text) > 1)
      text += fmt::format(", with arguments whose hash is {:016x}", call->low);
  }
  return text;
}

/// Held for some instructions.
class SpinLock {
 public:
  // acquire, release: who has the lock sees what those before have written.
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {}
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

enum class Verdict : std::uint8_t { none, agree, differ };
struct Comparison {
  std::size_t calls = 0;
  Verdict verdict = Verdict::none;
};

}  // namespace

/// Comparisons come back in any order, and are looked at in that of the calls.
struct ControlCheck::Shared {
  net::Mailbox& mailbox;
  const CheckKinds kinds;
  const EndRun end_run;

  /// Calls that have begun. release: who sees a call has been counted sees all of those before it, and its name.
  std::atomic<std::uint64_t> begun{0};
  /// open.size(). relaxed: a program that sees it late waits later.
  std::atomic<std::size_t> opened{0};

  SpinLock lock{};          ///< around all below
  std::uint64_t known = 0;  ///< calls from the first on that are known to be the same
  std::uint64_t first = 0;  ///< number of the first call in `chunks`
  std::deque<std::unique_ptr<Chunk>> chunks{};
  bool has_finished = false;   ///< the last call does not go on
  std::uint64_t compared = 0;  ///< comparisons that have come back, and those before them
  std::deque<Comparison> open{};
  std::size_t most = 0;
  std::function<void()> then{};  ///< once at most `most` are open

  // The thread that polls, of rank 0:
  std::mutex gathering{};  ///< around all below
  std::string why{};
  bool asks = false;
  std::map<Rank, Told> told{};

  Told own();
  void ask(const std::string& reason);
  void take(const net::Message& message);
  void add(Rank rank, Told calls_of_rank);
  void send(Rank to, const Writer& what) const;
  void take_verdict(std::uint64_t comparison, bool differs);
};

ControlCheck::ControlCheck(net::Mailbox& mailbox, CheckKinds kinds, std::size_t interval,
                           EndRun end_run)
    : interval_(interval), shared_(new Shared{mailbox, kinds, std::move(end_run)}) {
  mailbox.serve(kinds.tell,
                [shared = shared_](const net::Message& message) { shared->take(message); });
}

// The mailbox may outlive its programs. Another rank may have begun the next one, and ask about that.
ControlCheck::~ControlCheck() { shared_->mailbox.serve(shared_->kinds.tell, nullptr); }

void ControlCheck::end_call() {
  call_->low = hash_.low;
  call_->high = hash_.high;
}

bool ControlCheck::begin(std::string_view name, const Where& where) noexcept {
  end_call();
  bool is_first = false;
  if (left_-- == 0) [[unlikely]]
    is_first = make_room();
  else ++call_;
  call_->file = where.file_name();
  call_->line = where.line();
  const std::uint64_t word = note_name(*call_, name);
  // Only this thread writes it.
  shared_->begun.store(shared_->begun.load(std::memory_order_relaxed) + 1,
                       std::memory_order_release);
  add(word);
  return is_first;
}

// An interval ends, or a chunk is full.
bool ControlCheck::make_room() noexcept {
  try {
    return try_to_make_room();
  } catch (const std::exception& error) {  // no memory
    shared_->mailbox.transport().abort(fmt::format("refrain: rank {} cannot note a call: {}",
                                                   shared_->mailbox.rank(), error.what()));
  }
  std::abort();  // g++ 12 does not believe that abort() is the end
}

bool ControlCheck::try_to_make_room() {
  const std::uint64_t begun = shared_->begun.load(std::memory_order_relaxed);
  const bool is_first = begun % interval_ == 0;
  if (is_first && begun > 0) compare(interval_);
  if (begun % kChunk != 0) {
    ++call_;
  } else {
    auto made = std::make_unique_for_overwrite<Chunk>();
    call_ = made->data();
    const std::lock_guard lock(shared_->lock);
    shared_->chunks.push_back(std::move(made));
  }
  left_ = std::min(interval_ - begun % interval_, kChunk - begun % kChunk) - 1;
  return is_first;
}

void ControlCheck::finish(std::string_view name, const Where& where) {
  begin(name, where);
  end_call();
  {
    const std::lock_guard lock(shared_->lock);
    shared_->has_finished = true;
  }
  compare((shared_->begun.load(std::memory_order_relaxed) - 1) % interval_ + 1);
}

void ControlCheck::compare(std::size_t calls) {
  const Hash hash = std::exchange(hash_, {});
  const Sum sum{hash.low, hash.high, calls, 0};
  {
    const std::lock_guard lock(shared_->lock);
    shared_->open.push_back({calls});
    shared_->opened.store(shared_->open.size(), std::memory_order_relaxed);
  }
  const std::uint64_t number = intervals_++;
  net::all_reduce(shared_->mailbox, {shared_->kinds.compare, number}, bytes_of(sum), add_sum,
                  [shared = shared_, number](const Bytes& result) {
                    shared->take_verdict(number, sum_of(result).differ != 0);
                  });
}

std::size_t ControlCheck::open() const { return shared_->opened.load(std::memory_order_relaxed); }

void ControlCheck::when_open(std::size_t most, std::function<void()> then) {
  {
    const std::lock_guard lock(shared_->lock);
    if (shared_->open.size() > most) {
      shared_->most = most;
      shared_->then = std::move(then);
      return;
    }
  }
  then();
}

void ControlCheck::Shared::take_verdict(std::uint64_t comparison, bool differs) {
  std::function<void()> waits;
  bool is_wrong = false;
  {
    const std::lock_guard held(lock);
    open[comparison - compared].verdict = differs ? Verdict::differ : Verdict::agree;
    for (; !open.empty() && open.front().verdict == Verdict::agree; ++compared) {
      known += open.front().calls;
      open.pop_front();
    }
    opened.store(open.size(), std::memory_order_relaxed);
    for (; known - first >= kChunk; first += kChunk) chunks.pop_front();
    // It stays open: nobody goes on for long.
    is_wrong = !open.empty() && open.front().verdict == Verdict::differ;
    if (then && open.size() <= most) waits = std::exchange(then, nullptr);
  }
  if (waits) waits();
  if (is_wrong && mailbox.rank() == 0) ask("");
}

// --- reports ---------------------------------------------------------------------------------------------

void ControlCheck::suspect(const std::string& why) {
  if (shared_->mailbox.rank() == 0) return shared_->ask(why);
  Writer writer;
  writer.text(why);
  shared_->send(0, writer);
}

void ControlCheck::Shared::send(Rank to, const Writer& what) const {
  net::Header header = mailbox.beside(to, kinds.tell);
  header.size = what.bytes().size();
  net::Message message(header);
  std::ranges::copy(what.bytes(), message.bytes().begin());
  mailbox.send(std::move(message));
}

// Of the last call, unless it is the end, nothing is read but what was there when it was counted.
Told ControlCheck::Shared::own() {
  std::vector<NotedCall> noted;
  Told own;
  {
    const std::lock_guard held(lock);
    const std::uint64_t end = begun.load(std::memory_order_acquire);
    own.first = known;
    own.in_call = !has_finished;
    for (std::uint64_t number = known; number < end; ++number) {
      const NotedCall& call = (*chunks[(number - first) / kChunk])[(number - first) % kChunk];
      NotedCall& copy = noted.emplace_back();
      copy.file = call.file;
      copy.line = call.line;
      copy.name_size = call.name_size;
      copy.name = call.name;
      const bool is_whole = has_finished || number + 1 < end;
      copy.low = is_whole ? call.low : 0;
      copy.high = is_whole ? call.high : 0;
    }
  }
  for (const NotedCall& call : noted)
    own.calls.push_back({call.low,
                         call.high,
                         {call.name.data(), call.name_size},
                         to_string(Where(call.file, call.line))});
  return own;
}

/// Rank 0 asks all others.
void ControlCheck::Shared::ask(const std::string& reason) {
  {
    const std::lock_guard held(gathering);
    if (std::exchange(asks, true)) return;
    why = reason;
  }
  for (Rank rank = 1; rank < mailbox.ranks(); ++rank) send(rank, Writer());
  add(0, own());
}

/// To rank 0: a suspicion (a text), or the calls of a rank. To others: rank 0 asks.
void ControlCheck::Shared::take(const net::Message& message) {
  Reader reader(message.bytes());
  if (mailbox.rank() != 0) {
    Writer writer;
    writer.text("");
    write(writer, own());
    return send(0, writer);
  }
  const std::string text = reader.text();
  if (reader.at_end()) return ask(text);
  add(message.header().from, read_told(reader));
}

void ControlCheck::Shared::add(Rank rank, Told calls_of_rank) {
  std::vector<Told> all;
  std::string reason;
  {
    const std::lock_guard held(gathering);
    told[rank] = std::move(calls_of_rank);
    if (told.size() < mailbox.ranks()) return;
    for (auto& [its, calls_of] : told) all.push_back(std::move(calls_of));
    reason = why;
  }
  const std::string difference = word(all);
  end_run(!difference.empty() ? difference : reason);
}

}  // namespace refrain::replication
