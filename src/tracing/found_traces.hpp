#pragma once
// The traces of a context that nobody has marked: the finder that looks for them, and what came of recording them. Tells
// the autotrace log.
//
// Owner: the context's thread. Memory: bounded.

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <unordered_map>

#include "finder/trace_finder.hpp"
#include "tracing/autotrace_log.hpp"
#include "tracing/trace_tree.hpp"

namespace refrain::runtime {

/// How a finder looks for traces.
[[nodiscard]] autotrace::FinderOptions finder_options(const Options& options);

class FoundTraces {
 public:
  /// Null where traces are not looked for.
  static std::unique_ptr<FoundTraces> make(ContextCore& context);

  [[nodiscard]] const autotrace::TraceFinder& finder() const { return finder_; }

  /// A call that is analysed; and after it, if nothing is being recorded: takes in what was mined.
  void analysed(autotrace::Token token, autotrace::Work work);
  void take_turn();
  /// Something that cannot be traced comes, whatever it is.
  void untraceable();
  /// The first calls of a branch were replayed.
  void replayed(const Branch& branch, std::size_t calls);
  /// One that was entered has been left before its end.
  void was_wrong() { finder_.was_wrong(); }
  /// A candidate was recorded to its end; or its beginning, and the calls went on otherwise.
  void recorded(std::uint64_t candidate) { finder_.recorded(candidate); }
  void recorded_beginning(std::uint64_t candidate) { finder_.recorded_beginning(candidate); }
  void abandoned(std::size_t calls);

  /// The program has left what was found there with this call; whether it had done so before.
  bool left_again(const Branch& branch, std::size_t calls, autotrace::Token token);
  /// A branch of so many calls was recorded; returns its number.
  std::uint64_t made_branch(std::size_t calls);
  void dropped(const Branch& branch) {
    if (watched_ == &branch) watched_ = nullptr;
  }

  // --- branches that are left alone ----------------------------------------------------------------

  /// It begins with the next call that is analysed: from there on its calls are compared.
  void watch(Branch& branch, bool in_context) {
    if (watched_ != nullptr) return;
    watched_ = &branch;
    watched_calls_ = 0;
    watched_in_context_ = in_context;
  }

  /// Candidates are recorded before it is known whether they come in full: wherever their first call comes, or where it
  /// comes in the same context as when they were mined. In tries.
  Ledger guessing, guessing_in_context;

 private:
  explicit FoundTraces(ContextCore& context);

  static constexpr std::size_t kMostExits = 4096;
  autotrace::TraceFinder finder_;
  std::unique_ptr<AutotraceLog> log_;  ///< null: nobody wants it
  std::unordered_map<std::uint64_t, std::uint32_t> exits_;
  std::uint64_t numbers_ = 0;
  Branch* watched_ = nullptr;
  std::size_t watched_calls_ = 0;  ///< that have come
  bool watched_in_context_ = false;
};

}  // namespace refrain::runtime
