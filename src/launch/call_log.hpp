#pragma once
// The calls of a program that runs on several shards, all of which have to make the same: each is noted for reports, and
// goes into a hash with what it says. Who compares the hashes is replication/control_check.hpp.
//
// Threads: the program's thread notes calls, and says how many it has begun; of these all but the last are readable by
// any.
//
// Cost: some 25 instructions per call, and 10 per word of what it says, but for a value's.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "launch/call_name.hpp"
#include "refrain/where.hpp"

namespace refrain::runtime {

/// A call, as far as a report about it goes.
struct NotedCall {
  std::uint64_t low, high;  ///< hash of all that the call says, and those before it in its interval
  const char* name;
  const char* file;
  std::uint64_t line;
};

/// 128 bits. Two streams of words that differ in one have different hashes, as the state after a word is a bijection of
/// that before it, and of the word; streams that differ in more have the same with probability 2^-128.
class CallHash {
 public:
  /// A word before the next add(), in one instruction: two words that were put in so would be as their sum. With the one
  /// after it, it makes a state that no other such pair makes of the same state.
  void put(std::uint64_t word) { high_ += word; }
  void add(std::uint64_t word) {
    const Wide product = Wide{low_ ^ word} * 0x9e3779b97f4a7c15u;
    high_ += static_cast<std::uint64_t>(product >> 64);
    low_ = static_cast<std::uint64_t>(product) ^ std::rotl(high_, 32);
  }
  [[nodiscard]] std::uint64_t low() const { return low_; }
  [[nodiscard]] std::uint64_t high() const { return high_; }

 private:
  using Wide = unsigned __int128;
  std::uint64_t low_ = 0, high_ = 0;
};

class CallLog {
 public:
  CallLog(const CallLog&) = delete;

  /// A call begins. `where`: for the report only.
  void begin(CallName name, const Where& where) noexcept {
    begin_launch(name.text(), where);
    hash_.add(name.hash());
  }
  /// A launch begins. Its token, which has the name of the task, and what it gives the task by value are added later. A
  /// launch that is refused may have no token: refused() is given its name.
  void begin_launch(const char* name, const Where& where) noexcept {
    end_call();
    if (left_ == 0) [[unlikely]]
      return begin_with_room(name, where);
    ++call_;
    note(name, where);
  }
  void put_values(std::uint64_t hash) { hash_.put(hash); }
  /// The call that has begun throws an error, which all shards have.
  void refused() {
    if (call_->name != nullptr) hash_.add(CallName::kept(call_->name).hash());
  }
  /// Of the call that has begun, something that has to be the same on every shard.
  void add(std::uint64_t word) { hash_.add(word); }

 protected:
  /// `begun`: how many calls have. release: who sees a call counted sees all of those before it, and its name.
  explicit CallLog(std::atomic<std::uint64_t>& begun) : begun_(&begun) {}
  ~CallLog() = default;

  /// There is no room: room() is to be called, then note().
  virtual void begin_with_room(const char* name, const Where& where) noexcept = 0;
  /// The next `calls` calls are noted there.
  void room(NotedCall* first, std::size_t calls) {
    call_ = first;
    left_ = calls;
  }
  void note(const char* name, const Where& where) noexcept {
    --left_;
    call_->name = name;
    call_->file = where.file_name();
    call_->line = where.line();
    // Only this thread writes it.
    begun_->store(begun_->load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void end_call() {
    call_->low = hash_.low();
    call_->high = hash_.high();
  }
  /// So does the last call, and nothing is written to it any more.
  void end_calls() {
    end_call();
    room(&none_, 0);
  }
  /// Of the calls since the last time.
  [[nodiscard]] CallHash take_hash() { return std::exchange(hash_, {}); }

 private:
  CallHash hash_;
  std::atomic<std::uint64_t>* const begun_;
  NotedCall none_{};          ///< before the first call
  NotedCall* call_ = &none_;  ///< the last one that has begun
  std::size_t left_ = 0;      ///< calls that there is room for
};

}  // namespace refrain::runtime
