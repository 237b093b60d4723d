#include "replication/control_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "net/all_reduce.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

namespace {

using net::Bytes;
using net::Rank;
using runtime::CallName, runtime::NotedCall;

/// How many ranks have proposed something.
struct Proposal {
  std::uint64_t what = 0, ranks = 0;
};

/// What the ranks compare: one hash for all calls of an interval.
struct Sum {
  std::uint64_t low = 0, high = 0, calls = 0, differ = 0;
};

/// With what they propose, in order.
struct Said {
  Sum sum;
  std::vector<Proposal> proposals;
};

Bytes bytes_of(const Said& said) {
  Writer writer;
  for (const std::uint64_t number : {said.sum.low, said.sum.high, said.sum.calls, said.sum.differ})
    writer.number(number);
  for (const auto& [what, ranks] : said.proposals) {
    writer.number(what);
    writer.number(ranks);
  }
  return writer.bytes();
}
Said said_in(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Said said;
  for (std::uint64_t* number : {&said.sum.low, &said.sum.high, &said.sum.calls, &said.sum.differ})
    *number = reader.number();
  while (!reader.at_end()) {
    const std::uint64_t what = reader.number();
    said.proposals.push_back({what, reader.number()});
  }
  return said;
}

void add_said(Bytes& into, std::span<const std::byte> next) {
  Said all = said_in(into);
  const Said other = said_in(next);
  Sum& sum = all.sum;
  sum.differ |= other.sum.differ;
  if (sum.low != other.sum.low || sum.high != other.sum.high || sum.calls != other.sum.calls)
    sum.differ = 1;
  std::vector<Proposal> merged;
  std::ranges::merge(all.proposals, other.proposals, std::back_inserter(merged), {},
                     &Proposal::what, &Proposal::what);
  all.proposals.clear();
  for (const Proposal& proposal : merged) {
    if (!all.proposals.empty() && all.proposals.back().what == proposal.what)
      all.proposals.back().ranks += proposal.ranks;
    else all.proposals.push_back(proposal);
  }
  into = bytes_of(all);
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
  // Groups of ranks that say the same. A call that goes on may be any of its name and place: it is told where only one was
  // made there, and comes after those that are known whole.
  std::vector<Rank> ranks_with;
  for (Rank rank = 0; rank < by_rank.size(); ++rank)
    if (by_rank[rank].has(number)) ranks_with.push_back(rank);
  std::ranges::stable_partition(ranks_with,
                                [&](Rank rank) { return by_rank[rank].is_complete(number); });
  struct Group {
    std::set<Rank> ranks;
    const ToldCall* call;
  };
  std::vector<Group> groups;
  for (const Rank rank : ranks_with) {
    const ToldCall& call = by_rank[rank].at(number);
    std::vector<Group*> same;
    for (Group& group : groups)
      if (group.call->name == call.name && group.call->where == call.where &&
          !differ(by_rank[*group.ranks.begin()], by_rank[rank], number))
        same.push_back(&group);
    if (same.empty()) groups.push_back({{rank}, &call});
    else if (same.size() == 1) same[0]->ranks.insert(rank);
  }
  std::ranges::sort(groups, {}, [](const Group& group) { return *group.ranks.begin(); });
  for (const auto& [ranks, call] : groups) {
    const auto equal_text = [&call = call](const Group& other) {
      return other.call->name == call->name && other.call->where == call->where;
    };
    text += "\n  on rank ";
    for (const Rank rank : ranks)
      text += (rank == *ranks.begin() ? "" : ", ") + std::to_string(rank);
    text += fmt::format(": {} at {}", call->name, call->where);
    if (std::ranges::count_if(groups, equal_text) > 1)
      text += fmt::format(", with arguments whose hash is {:016x}", call->low);
  }
  return text;
}

/// Held for some instructions, but for a report.
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
  std::vector<Proposal> proposals;
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
  std::uint64_t ended = 0;     ///< calls that the last comparison was of, and those before
  std::uint64_t compared = 0;  ///< comparisons that have come back, and those before them
  std::deque<Comparison> open{};
  std::map<std::uint64_t, std::uint64_t> proposed{};  ///< by how many ranks, as far as compared
  /// By all of them, and with which comparison that was known.
  std::deque<std::pair<std::uint64_t, std::uint64_t>> agreed{};
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
  void take_verdict(std::uint64_t comparison, Said said);
  void add(const Proposal& proposal);
};

ControlCheck::ControlCheck(net::Mailbox& mailbox, CheckKinds kinds, std::size_t interval,
                           EndRun end_run)
    : ControlCheck(std::shared_ptr<Shared>(new Shared{mailbox, kinds, std::move(end_run)}),
                   interval) {
  mailbox.serve(kinds.tell,
                [shared = shared_](const net::Message& message) { shared->take(message); });
}

ControlCheck::ControlCheck(std::shared_ptr<Shared> shared, std::size_t interval)
    : CallLog(shared->begun), interval_(interval), shared_(std::move(shared)) {}

// The mailbox may outlive its programs. Another rank may have begun the next one, and ask about that.
ControlCheck::~ControlCheck() { shared_->mailbox.serve(shared_->kinds.tell, nullptr); }

void ControlCheck::begin_with_room(const char* name, const Where& where) noexcept {
  const bool is_first = shared_->begun.load(std::memory_order_relaxed) % interval_ == 0;
  try {
    make_room();
  } catch (const std::exception& error) {  // no memory
    shared_->mailbox.transport().abort(fmt::format("refrain: rank {} cannot note a call: {}",
                                                   shared_->mailbox.rank(), error.what()));
    std::abort();  // g++ 12 does not believe that abort() is the end
  }
  note(name, where);
  if (is_first && at_interval_) at_interval_(where);
}

// An interval ends, or a chunk is full.
void ControlCheck::make_room() {
  const std::uint64_t begun = shared_->begun.load(std::memory_order_relaxed);
  if (begun % interval_ == 0 && begun > compared_) compare();
  const std::size_t at = begun % kChunk;
  std::unique_ptr<Chunk> made;
  if (at == 0) made = std::make_unique_for_overwrite<Chunk>();
  const std::lock_guard lock(shared_->lock);
  if (made != nullptr) shared_->chunks.push_back(std::move(made));
  room(&(*shared_->chunks.back())[at], std::min(interval_ - begun % interval_, kChunk - at));
}

void ControlCheck::finish(CallName name, const Where& where) {
  begin(name, where);
  end_calls();
  compare();
}

void ControlCheck::compare() {
  const std::uint64_t begun = shared_->begun.load(std::memory_order_relaxed);
  const std::uint64_t calls = begun - std::exchange(compared_, begun);
  const runtime::CallHash hash = take_hash();
  Said said{{hash.low(), hash.high(), calls, 0}, {}};
  std::ranges::sort(proposed_);
  for (const std::uint64_t what : proposed_) said.proposals.push_back({what, 1});
  proposed_.clear();
  {
    const std::lock_guard lock(shared_->lock);
    shared_->ended = begun;
    shared_->open.push_back({calls, Verdict::none, {}});
    shared_->opened.store(shared_->open.size(), std::memory_order_relaxed);
  }
  const std::uint64_t number = comparisons_++;
  net::all_reduce(shared_->mailbox, {shared_->kinds.compare, number}, bytes_of(said), add_said,
                  [shared = shared_, number](const Bytes& result) {
                    shared->take_verdict(number, said_in(result));
                  });
}

// Comparisons of a next program need this rank, so none has come back yet.
void ControlCheck::end_program() {
  at_interval_ = nullptr;
  const std::lock_guard lock(shared_->lock);
  shared_->proposed.clear();
  shared_->agreed.clear();
}

std::vector<std::uint64_t> ControlCheck::take_agreed() {
  std::vector<std::uint64_t> taken;
  const std::lock_guard lock(shared_->lock);
  auto& agreed = shared_->agreed;
  for (; !agreed.empty() && agreed.front().first + most_open() < comparisons_; agreed.pop_front())
    taken.push_back(agreed.front().second);
  return taken;
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

// Under the lock, in the order of the comparisons.
void ControlCheck::Shared::add(const Proposal& proposal) {
  std::uint64_t& ranks = proposed[proposal.what];
  ranks += proposal.ranks;
  if (ranks < mailbox.ranks()) return;
  proposed.erase(proposal.what);
  agreed.emplace_back(compared, proposal.what);
}

void ControlCheck::Shared::take_verdict(std::uint64_t comparison, Said said) {
  std::function<void()> waits;
  bool is_wrong = false;
  {
    const std::lock_guard held(lock);
    Comparison& told_of = open[comparison - compared];
    told_of.verdict = said.sum.differ != 0 ? Verdict::differ : Verdict::agree;
    told_of.proposals = std::move(said.proposals);
    for (; !open.empty() && open.front().verdict == Verdict::agree; ++compared) {
      known += open.front().calls;
      for (const Proposal& proposal : open.front().proposals) add(proposal);
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
  mailbox.send(mailbox.beside(to, kinds.tell), {what.bytes()});
}

// Of the last call, unless it has been compared, nothing is read but what was there when it was counted.
Told ControlCheck::Shared::own() {
  std::vector<NotedCall> noted;
  Told own;
  {
    const std::lock_guard held(lock);
    const std::uint64_t end = begun.load(std::memory_order_acquire);
    own.first = known;
    own.in_call = end != ended;
    for (std::uint64_t number = known; number < end; ++number) {
      const NotedCall& call = (*chunks[(number - first) / kChunk])[(number - first) % kChunk];
      const bool is_whole = !own.in_call || number + 1 < end;
      noted.push_back(
          {is_whole ? call.low : 0, is_whole ? call.high : 0, call.name, call.file, call.line});
    }
  }
  for (const NotedCall& call : noted)
    own.calls.push_back({call.low, call.high, call.name,
                         to_string(Where(call.file, static_cast<std::uint32_t>(call.line)))});
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
