#include "net/hang_watch.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace refrain::net {

namespace {

/// A rank that was asked for nothing for so long was not at rest.
constexpr HangWatch::Nanoseconds kBreak = 100'000'000;

struct Words {
  std::uint64_t step, first, second;
};

}  // namespace

HangWatch::HangWatch(Mailbox& mailbox, std::uint32_t kind, Found found)
    : mailbox_(mailbox), kind_(kind), found_(std::move(found)) {
  mailbox_.serve(kind_, [this](const Message& message) { take(message); });
}

void HangWatch::send(Rank to, Step step, std::uint64_t first, std::uint64_t second,
                     const std::string& text) {
  const Words words{static_cast<std::uint64_t>(step), first, second};
  mailbox_.send(mailbox_.beside(to, kind_),
                {std::as_bytes(std::span(&words, 1)), std::as_bytes(std::span(text))});
}

void HangWatch::rest(Nanoseconds now) {
  const Counts counted = counts();
  if (counted != then_ || now - rested_at_ > kBreak) rests_since_ = now;
  then_ = counted;
  rested_at_ = now;
  if (std::exchange(asked_, false)) send(0, Step::answer, counted.sent, counted.received);
  if (limit_ != 0 && now - rests_since_ >= limit_)
    end_run("refrain: a rank has waited for longer than --refrain:hang-after allows\n  " + what());
  if (mailbox_.rank() != 0 || missing_ > 0 || !told_.empty()) return;
  if (in_round_) end_round();
  else if (now - rests_since_ >= kPatience) begin_round();
}

void HangWatch::begin_round() {
  missing_ = mailbox_.ranks() - 1;
  in_round_ = true;
  sum_ = counts();
  for (Rank rank = 1; rank < mailbox_.ranks(); ++rank) send(rank, Step::ask);
}

void HangWatch::end_round() {
  in_round_ = false;
  const std::optional<Counts> before = std::exchange(before_, std::nullopt);
  if (sum_.sent != sum_.received) {  // something is in flight: later
    rests_since_ = rested_at_;
    return;
  }
  if (before != sum_) {
    before_ = sum_;
    return begin_round();
  }
  told_.resize(mailbox_.ranks());
  told_[0] = what();
  missing_ = mailbox_.ranks() - 1;
  for (Rank rank = 1; rank < mailbox_.ranks(); ++rank) send(rank, Step::ask_what);
}

void HangWatch::take(const Message& message) {
  Words words;
  std::memcpy(&words, message.bytes().data(), sizeof words);
  switch (static_cast<Step>(words.step)) {
    case Step::ask: asked_ = true; return;
    case Step::answer:
      sum_.sent += words.first;
      sum_.received += words.second;
      --missing_;
      return;
    case Step::ask_what: return send(0, Step::tell, 0, 0, what());
    case Step::tell: {
      const auto text = message.bytes().subspan(sizeof words);
      told_[message.header().from].assign(reinterpret_cast<const char*>(text.data()), text.size());
      if (--missing_ > 0) return;
      std::string all = "refrain: the run hangs: all ranks wait, and nothing is on its way";
      for (const std::string& each : told_) all += "\n  " + each;
      return end_run(all);
    }
  }
}

std::string HangWatch::what() const {
  constexpr std::size_t kMost = 8;
  const std::string rank = "rank " + std::to_string(mailbox_.rank());
  const std::vector<Expected> awaited = mailbox_.awaited();
  if (awaited.empty()) return rank + " waits for no message";
  std::string text = rank + " waits for ";
  for (std::size_t i = 0; i < std::min(awaited.size(), kMost); ++i)
    text += (i > 0 ? "\n    and for " : "") + mailbox_.text_of(awaited[i]);
  if (awaited.size() > kMost)
    text += "\n    and for " + std::to_string(awaited.size() - kMost) + " others";
  return text;
}

void HangWatch::end_run(const std::string& text) {
  if (found_) return found_(text);
  mailbox_.transport().abort(text);
}

}  // namespace refrain::net
