#include "replication/control_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/hash.hpp"
#include "net/all_reduce.hpp"

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

void add(Bytes& into, std::span<const std::byte> next) {
  Sum sum = sum_of(into);
  const Sum other = sum_of(next);
  sum.differ |= other.differ;
  if (sum.low != other.low || sum.high != other.high || sum.calls != other.calls) sum.differ = 1;
  into = bytes_of(sum);
}

/// A call as another rank is told of it.
struct ToldCall {
  std::uint64_t low = 0, high = 0;
  std::string text;  ///< what the call is, and where
  friend auto operator<=>(const ToldCall&, const ToldCall&) = default;
};
using Told = std::vector<ToldCall>;

ToldCall told(const NotedCall& call) {
  const std::string name(call.name.data(), strnlen(call.name.data(), call.name.size()));
  return {call.low, call.high, name + " at " + to_string(call.where)};
}

Bytes pack(const Told& calls) {
  Bytes bytes;
  const auto put = [&](const void* data, std::size_t size) {
    const auto* const from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  };
  for (const ToldCall& call : calls) {
    const std::uint64_t numbers[] = {call.low, call.high, call.text.size()};
    put(numbers, sizeof numbers);
    put(call.text.data(), call.text.size());
  }
  return bytes;
}

Told unpack(std::span<const std::byte> bytes) {
  Told calls;
  while (!bytes.empty()) {
    std::uint64_t numbers[3];
    std::memcpy(numbers, bytes.data(), sizeof numbers);
    const auto text = bytes.subspan(sizeof numbers, numbers[2]);
    calls.push_back({numbers[0], numbers[1],
                     std::string(reinterpret_cast<const char*>(text.data()), text.size())});
    bytes = bytes.subspan(sizeof numbers + numbers[2]);
  }
  return calls;
}

/// Of calls that are not the same on every rank, the first, in words. `first`: the number of the interval's first call.
std::string word(const std::vector<Told>& by_rank, std::uint64_t first) {
  const auto at = [&](Rank rank, std::size_t i) {
    return i < by_rank[rank].size() ? by_rank[rank][i] : ToldCall{0, 0, "no call"};
  };
  std::size_t i = 0;
  const auto same = [&] {
    for (Rank rank = 1; rank < by_rank.size(); ++rank)
      if (at(rank, i).low != at(0, i).low || at(rank, i).high != at(0, i).high) return false;
    return true;
  };
  while (same()) ++i;
  std::string text = fmt::format(
      "refrain: the ranks do not make the same calls, as control replication needs them to. Call "
      "{} is",
      first + i);
  std::map<ToldCall, std::vector<Rank>> groups;
  for (Rank rank = 0; rank < by_rank.size(); ++rank) groups[at(rank, i)].push_back(rank);
  std::vector<std::pair<std::vector<Rank>, ToldCall>> ordered;
  ordered.reserve(groups.size());
  for (const auto& [call, ranks] : groups) ordered.emplace_back(ranks, call);
  std::ranges::sort(ordered);
  for (const auto& [ranks, call] : ordered) {
    const auto equal_text = [&call = call](const auto& other) {
      return other.second.text == call.text;
    };
    text += "\n  on rank ";
    for (const Rank rank : ranks) text += (rank == ranks[0] ? "" : ", ") + std::to_string(rank);
    text += ": " + call.text;
    if (std::ranges::count_if(ordered, equal_text) > 1)
      text += fmt::format(", with arguments whose hash is {:016x}", call.low);
  }
  return text;
}

}  // namespace

ControlCheck::ControlCheck(net::Mailbox& mailbox, CheckKinds kinds, std::size_t interval,
                           Violation violation)
    : interval_(interval), shared_(new Shared{mailbox, kinds, std::move(violation)}) {
  calls_.reserve(interval_);
}

void ControlCheck::note(std::string_view name, const Where& where,
                        std::span<const std::byte> what) {
  NotedCall& call = calls_.emplace_back();
  const XXH128_hash_t hash = XXH3_128bits(what.data(), what.size());
  call.low = hash.low64;
  call.high = hash.high64;
  call.where = where;
  std::memcpy(call.name.data(), name.data(), std::min(name.size(), call.name.size()));
  if (calls_.size() == interval_) compare();
}

void ControlCheck::finish(const Where& where) {
  constexpr std::string_view end = "the end of the program";
  note(end, where, std::as_bytes(std::span(end)));
  if (!calls_.empty()) compare();
}

void ControlCheck::compare() {
  std::vector<std::uint64_t> words;
  words.reserve(2 * calls_.size());
  for (const NotedCall& call : calls_) words.insert(words.end(), {call.low, call.high});
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size() * sizeof words[0]);
  const Sum sum{hash.low64, hash.high64, calls_.size(), 0};
  const std::uint64_t first = compared_;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->open.push_back({first, std::exchange(calls_, {})});
  }
  calls_.reserve(interval_);
  compared_ += sum.calls;
  net::all_reduce(shared_->mailbox, shared_->kinds.compare, intervals_++, bytes_of(sum), add,
                  [shared = shared_, first](const Bytes& result) {
                    take_verdict(shared, first, sum_of(result).differ != 0);
                  });
}

void ControlCheck::take_verdict(const std::shared_ptr<Shared>& shared, std::uint64_t first,
                                bool differs) {
  std::unique_lock lock(shared->mutex);
  std::deque<Comparison>& open = shared->open;
  for (Comparison& each : open)
    if (each.first == first) each.verdict = differs ? Verdict::differ : Verdict::agree;
  while (!open.empty() && open.front().verdict == Verdict::agree) open.pop_front();
  if (open.empty() || open.front().verdict == Verdict::none || std::exchange(shared->told, true))
    return;
  // The first that differs. It stays open: nobody goes on.
  const Comparison comparison = open.front();
  lock.unlock();
  tell(shared, comparison);
}

/// All ranks come here.
void ControlCheck::tell(const std::shared_ptr<Shared>& shared, const Comparison& comparison) {
  net::Mailbox& mailbox = shared->mailbox;
  Told own;
  std::ranges::transform(comparison.calls, std::back_inserter(own), told);
  const std::uint64_t first = comparison.first;
  // Beside the numbers of other messages, which the program's thread may be giving out.
  const auto header = [&](Rank from) {
    return net::Header{from, 0, ~std::uint64_t{0} - first, first, 0, shared->kinds.tell, 0};
  };
  if (mailbox.rank() != 0) {
    const Bytes bytes = pack(own);
    net::Header to_root = header(mailbox.rank());
    to_root.size = bytes.size();
    net::Message message(to_root);
    std::ranges::copy(bytes, message.bytes().begin());
    return mailbox.send(std::move(message));
  }
  struct Gathered {
    std::mutex mutex;
    std::vector<Told> by_rank;  ///< under the mutex
    Rank missing;               ///< under the mutex
  };
  const auto gathered = std::make_shared<Gathered>();
  gathered->by_rank.resize(mailbox.ranks());
  gathered->by_rank[0] = std::move(own);
  gathered->missing = mailbox.ranks() - 1;
  for (Rank rank = 1; rank < mailbox.ranks(); ++rank)
    mailbox.await(header(rank), [shared, gathered, first, rank](const net::Message& message) {
      {
        const std::lock_guard lock(gathered->mutex);
        gathered->by_rank[rank] = unpack(message.bytes());
        if (--gathered->missing != 0) return;
      }
      shared->violation(word(gathered->by_rank, first));
    });
}

}  // namespace refrain::replication
