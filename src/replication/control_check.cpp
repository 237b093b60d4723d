#include "replication/control_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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

std::string name_of(const NotedCall& call) {
  return {call.name.data(), strnlen(call.name.data(), call.name.size())};
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

  SpinLock lock{};                ///< around all below
  std::uint64_t first = 0;        ///< number of the first call in `calls`
  std::deque<NotedCall> calls{};  ///< not known to be the same; the last one may go on
  bool in_call = false;           ///< it does
  std::uint64_t compared = 0;     ///< comparisons that have come back, and those before them
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
  if (!in_call_) return;
  sum_.add(call_.low);
  sum_.add(call_.high);
  ++calls_;
}

void ControlCheck::begin(std::string_view name, const Where& where) {
  end_call();
  {
    const std::lock_guard lock(shared_->lock);
    if (in_call_) {
      shared_->calls.back().low = call_.low;
      shared_->calls.back().high = call_.high;
    }
    NotedCall& call = shared_->calls.emplace_back();
    call.where = where;
    std::memcpy(call.name.data(), name.data(), std::min(name.size(), call.name.size()));
    shared_->in_call = true;
  }
  if (calls_ == interval_) compare();
  in_call_ = true;
  call_ = {};
  add(hash_bytes(name.data(), name.size()));
}

void ControlCheck::finish(std::string_view name, const Where& where) {
  begin(name, where);
  end_call();
  in_call_ = false;
  {
    const std::lock_guard lock(shared_->lock);
    shared_->calls.back().low = call_.low;
    shared_->calls.back().high = call_.high;
    shared_->in_call = false;
  }
  compare();
}

void ControlCheck::compare() {
  const Hash hash = std::exchange(sum_, {});
  const Sum sum{hash.low, hash.high, calls_, 0};
  {
    const std::lock_guard lock(shared_->lock);
    shared_->open.push_back({std::exchange(calls_, 0)});
  }
  const std::uint64_t number = intervals_++;
  net::all_reduce(shared_->mailbox, {shared_->kinds.compare, number}, bytes_of(sum), add_sum,
                  [shared = shared_, number](const Bytes& result) {
                    shared->take_verdict(number, sum_of(result).differ != 0);
                  });
}

std::size_t ControlCheck::open() const {
  const std::lock_guard lock(shared_->lock);
  return shared_->open.size();
}

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
      first += open.front().calls;
      calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(open.front().calls));
      open.pop_front();
    }
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

Told ControlCheck::Shared::own() {
  std::deque<NotedCall> noted;
  Told own;
  {
    const std::lock_guard held(lock);
    own.first = first;
    own.in_call = in_call;
    noted = calls;
  }
  for (const NotedCall& call : noted)
    own.calls.push_back({call.low, call.high, name_of(call), to_string(call.where)});
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
