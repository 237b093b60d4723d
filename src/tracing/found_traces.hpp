#pragma once
// What a context knows of traces that nobody has marked: what the finder has found to repeat, where recordings of that
// begin, and where programs leave them.
//
// Owner: the context's thread. Memory: bounded.

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <unordered_map>

#include "finder/trace_finder.hpp"
#include "tracing/autotrace_log.hpp"
#include "tracing/segment.hpp"

namespace refrain::runtime {

class RuntimeImpl;

/// How a finder looks for traces.
[[nodiscard]] autotrace::FinderOptions finder_options(const Options& options);

class FoundTraces {
 public:
  /// Where traces begin, all with the same first call.
  struct Root {
    Fork fork;
    std::uint64_t id = 0;  ///< token of the call
    std::string name;
    std::source_location where;
  };

  /// Null where traces are not looked for.
  static std::unique_ptr<FoundTraces> make(RuntimeImpl& runtime, std::uint64_t context);

  [[nodiscard]] const autotrace::TraceFinder& finder() const { return finder_; }

  /// Whether anything was found so far.
  [[nodiscard]] bool empty() const { return roots_.empty() && finder_.candidates().empty(); }
  /// Where traces begin with the call that has this Fork::hash, or null.
  [[nodiscard]] Root* find(std::uint64_t first_call);
  /// The same, made if it is not there.
  Root& root(std::uint64_t first_call);

  /// A call that is analysed; and after it, if nothing is being recorded: takes in what was mined.
  void analysed(autotrace::Token token);
  void take_turn();
  /// Something that cannot be traced comes, whatever it is.
  void untraceable();
  /// The first calls of a segment were replayed.
  void replayed(const Segment& segment, std::size_t calls);
  /// One that was entered has been left before its end.
  void was_wrong() { finder_.was_wrong(); }
  /// A candidate was recorded to its end; or its beginning, and the calls went on otherwise.
  void recorded(std::uint64_t candidate) { finder_.recorded(candidate); }
  void recorded_beginning(std::uint64_t candidate) { finder_.recorded_beginning(candidate); }
  void abandoned(std::size_t calls);

  /// The program has left what was found there with this call; whether it had done so before.
  bool left_again(const Segment& segment, std::size_t calls, autotrace::Token token);
  /// One of so many calls is made; its number. And one goes.
  std::uint64_t made_segment(std::size_t calls);
  void dropped(const Segment& segment) {
    --segments_;
    if (watched_ == &segment) watched_ = nullptr;
  }
  /// That are there.
  [[nodiscard]] std::size_t segments() const { return segments_; }
  static constexpr std::size_t kMostSegments = 512;

  // --- segments that are not trusted -----------------------------------------------------------------

  /// It begins with the next call that is analysed: from there on its calls are compared.
  void watch(Segment& segment, bool in_context) {
    if (watched_ != nullptr) return;
    watched_ = &segment;
    watched_calls_ = 0;
    watched_in_context_ = in_context;
  }

  /// Candidates are recorded before it is known whether they come in full: wherever their first call comes, or where it
  /// comes in the same context as when they were mined.
  Patience guessing, guessing_in_context;

 private:
  FoundTraces(RuntimeImpl& runtime, std::uint64_t context);

  static constexpr std::size_t kRoots = 64, kMostExits = 4096;
  autotrace::TraceFinder finder_;
  std::unique_ptr<AutotraceLog> log_;  ///< null: nobody wants it
  std::unordered_map<std::uint64_t, Root> roots_;
  std::size_t roots_limit_ = kRoots;  ///< at which those of no use are looked for
  std::unordered_map<std::uint64_t, std::uint32_t> exits_;
  std::size_t segments_ = 0;
  std::uint64_t numbers_ = 0;
  Segment* watched_ = nullptr;
  std::size_t watched_calls_ = 0;  ///< that have come
  bool watched_in_context_ = false;
};

}  // namespace refrain::runtime
