#pragma once
// Whether a run hangs: all ranks wait, nothing runs on any of them, and no message is in flight. Rank 0 finds it by the
// four-counter method (F. Mattern, "Algorithms for distributed termination detection", Distributed Computing 2, 1987):
// when it has been at rest for a while, it asks all ranks. Each answers when it is at rest, with how many messages it
// has sent and received. Two rounds of answers, the second asked for after the first was complete, with the same sums,
// and as many received as sent: nobody can have gone on in between. Then all ranks say what they wait for, rank 0
// prints it, and the run ends.
//
// A rank that is busy does not answer, so a run with a long task is asked once. All members: the thread that polls, one
// at a time.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "net/mailbox.hpp"

namespace refrain::net {

class HangWatch {
 public:
  using Nanoseconds = std::uint64_t;
  /// Told what all ranks wait for, on rank 0; or, where the limit is over, what this one waits for, again and again. Ends
  /// the run, by Transport::abort unless told otherwise.
  using Found = std::function<void(const std::string&)>;
  static constexpr Nanoseconds kPatience = 500'000'000;

  /// `kind`: of its messages, which are beside the others.
  HangWatch(Mailbox& mailbox, std::uint32_t kind, Found found = nullptr);
  HangWatch(const HangWatch&) = delete;

  /// The run also ends where a rank has been at rest for so long, whatever the others do; 0: it may.
  void set_limit(Nanoseconds limit) { limit_ = limit; }
  /// This rank is at rest at that time: nothing runs, nothing can run, and nothing has come.
  void rest(Nanoseconds now);

 private:
  enum class Step : std::uint64_t { ask, answer, ask_what, tell };
  struct Counts {
    std::uint64_t sent = 0, received = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  [[nodiscard]] Counts counts() const { return {mailbox_.sent(), mailbox_.received()}; }
  void send(Rank to, Step step, std::uint64_t first = 0, std::uint64_t second = 0,
            const std::string& text = {});
  void take(const Message& message);
  void begin_round();
  void end_round();
  /// "rank 2 waits for values of call 12, ...", with a line for each message.
  [[nodiscard]] std::string what() const;
  void end_run(const std::string& text);

  Mailbox& mailbox_;
  const std::uint32_t kind_;
  const Found found_;
  Nanoseconds limit_ = 0;
  Nanoseconds rests_since_ = 0,
              rested_at_ = 0;  ///< since it rests without a break; at the last call
  Counts then_;                ///< at the last call
  bool asked_ = false;         ///< an answer is due

  // Of rank 0:
  Rank missing_ = 0;  ///< answers that have not come
  bool in_round_ = false;
  Counts sum_;                     ///< of this round
  std::optional<Counts> before_;   ///< of the last one, if it found nothing in flight
  std::vector<std::string> told_;  ///< by rank; empty: nobody was asked
};

}  // namespace refrain::net
