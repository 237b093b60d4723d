#include "trace/recording_commands.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <utility>

namespace refrain::trace {

namespace {

using Kind = Command::Kind;

constexpr Event fence{1};

void sort_once(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

void append(Commands& commands, Commands more) {
  std::move(more.begin(), more.end(), std::back_inserter(commands));
}

}  // namespace

/// What an operation waits for: the fence, operations of its own replay, and of the one before.
struct RecordingCommands::Waits {
  bool fence = false;
  std::vector<std::uint32_t> inner;
  std::vector<std::uint32_t> carried;

  static std::vector<Waits> of(std::size_t operations, const std::vector<RecordedEdge>& inner,
                               const std::vector<RecordedEdge>& carried) {
    std::vector<Waits> waits(operations);
    for (const RecordedEdge& edge : inner) waits[edge.to].inner.push_back(edge.from);
    for (const RecordedEdge& edge : carried) waits[edge.to].carried.push_back(edge.from);
    for (Waits& of_one : waits) {
      sort_once(of_one.inner);
      sort_once(of_one.carried);
      of_one.fence = of_one.inner.empty() && of_one.carried.empty();
    }
    return waits;
  }
  [[nodiscard]] bool needs_merge() const { return fence + inner.size() + carried.size() > 1; }
};

RecordingCommands::RecordingCommands(const RecordingGraph& graph, const RecordedEdges& reduced,
                                     std::string summary)
    : graph_(graph), reduced_(reduced), summary_(std::move(summary)) {
  std::uint32_t next = fence.number + 1;
  for (const Waits& waits : recorded_waits()) {
    merges_.push_back(waits.needs_merge() ? next++ : 0);
    ends_.push_back(next++);
  }
  if (graph.operations.size() > 1) summary_merge_ = next++;
  summary_end_ = next++;
  unrolled_merges_ = merges_;
  const std::vector<Waits> unrolled = reduced_waits(graph.edges.carried);
  for (std::size_t i = 0; i < unrolled.size(); ++i) {
    if (unrolled_merges_[i] == 0 && unrolled[i].needs_merge()) unrolled_merges_[i] = next++;
  }
}

std::vector<RecordingCommands::Waits> RecordingCommands::recorded_waits() const {
  std::vector<Waits> waits = Waits::of(graph_.operations.size(), graph_.edges.inner, {});
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (graph_.operations[i].entered) waits[i].fence = true;
  }
  return waits;
}

// The fence is before everything, so it is left to the operations that wait for nothing else.
std::vector<RecordingCommands::Waits> RecordingCommands::reduced_waits(
    const std::vector<RecordedEdge>& carried) const {
  return Waits::of(graph_.operations.size(), reduced_.inner, carried);
}

Commands RecordingCommands::body(const std::vector<Waits>& waits, const Numbers& merges,
                                 bool primed) const {
  Commands commands;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    std::vector<Event> events;
    if (waits[i].fence) events.push_back(fence);
    for (const std::uint32_t from : waits[i].inner) events.push_back({ends_[from], primed});
    for (const std::uint32_t from : waits[i].carried) events.push_back({ends_[from], false});
    if (merges[i] != 0) {
      const Event merge{merges[i], primed};
      commands.push_back({Kind::merge, merge, std::move(events)});
      events = {merge};
    }
    const Event end{ends_[i], primed};
    commands.push_back({Kind::op, end, std::move(events), graph_.operations[i].text});
  }
  return commands;
}

Commands RecordingCommands::summary(const std::vector<std::uint32_t>& operations,
                                    bool primed) const {
  std::vector<Event> events;
  for (const std::uint32_t i : operations) events.push_back({ends_[i], primed});
  if (events.empty()) events.push_back(fence);
  Commands commands;
  if (summary_merge_ != 0) {
    const Event merge{summary_merge_, primed};
    commands.push_back({Kind::merge, merge, std::move(events)});
    events = {merge};
  }
  commands.push_back({Kind::op, Event{summary_end_, primed}, std::move(events), summary_});
  return commands;
}

/// Those that no later operation of the trace waits for.
std::vector<std::uint32_t> RecordingCommands::last_operations() const {
  std::vector<bool> waited_for(graph_.operations.size());
  for (const RecordedEdge& edge : reduced_.inner) waited_for[edge.from] = true;
  std::vector<std::uint32_t> last;
  for (std::uint32_t i = 0; i < waited_for.size(); ++i) {
    if (!waited_for[i]) last.push_back(i);
  }
  return last;
}

Commands RecordingCommands::recorded() const {
  std::vector<std::uint32_t> all(graph_.operations.size());
  std::iota(all.begin(), all.end(), 0);
  Commands commands{{Kind::fence, fence}};
  append(commands, body(recorded_waits(), merges_, false));
  append(commands, summary(all, false));
  return commands;
}

Commands RecordingCommands::reduced() const {
  Commands commands{{Kind::fence, fence}};
  append(commands, body(reduced_waits({}), merges_, false));
  append(commands, summary(last_operations(), false));
  return commands;
}

Commands RecordingCommands::propagated() const { return propagate_copies(reduced()); }

Commands RecordingCommands::unrolled() const {
  Commands commands = body(reduced_waits(graph_.edges.carried), unrolled_merges_, true);
  append(commands, summary(last_operations(), true));
  return propagate_copies(commands);
}

Commands RecordingCommands::repeatable() const {
  const std::vector<Waits> waits = reduced_waits(reduced_.carried);
  // What is carried on: in the first replay the fence, later the same events of the replay before.
  std::vector<Event> carried;
  if (std::any_of(waits.begin(), waits.end(), [](const Waits& w) { return w.fence; }))
    carried.push_back(fence);
  std::vector<std::uint32_t> sources;
  for (const RecordedEdge& edge : reduced_.carried) sources.push_back(edge.from);
  sort_once(sources);
  for (const std::uint32_t from : sources) carried.push_back({ends_[from], false});

  Commands commands{{Kind::remark, {}, {}, "// only in the first replay:"}};
  for (const Event& event : carried) {
    if (event == carried.front()) commands.push_back({Kind::fence, event});
    else commands.push_back({Kind::copy, event, {carried.front()}});
  }
  commands.push_back({Kind::remark});
  append(commands, body(waits, unrolled_merges_, true));
  for (const std::uint32_t from : sources)
    commands.push_back({Kind::copy, Event{ends_[from], false}, {Event{ends_[from], true}}});
  commands.push_back({Kind::remark});
  commands.push_back({Kind::remark, {}, {}, "// only in the last replay:"});
  append(commands, summary(last_operations(), true));
  return propagate_copies(commands);
}

namespace {

void print_stage(std::ostream& out, const char* title, const Commands& commands) {
  out << "\n-- " << title << "\n\n";
  print(out, commands);
}

void print_condition(std::ostream& out, const char* title, const std::vector<std::string>& lines) {
  out << title << ":\n";
  for (const std::string& line : lines) out << "  " << line << '\n';
}

}  // namespace

void print(std::ostream& out, const RecordingText& text, const RecordingGraph& graph,
           const RecordedEdges& reduced) {
  const RecordingCommands commands(graph, reduced, text.summary);
  out << "trace " << text.trace << ", " << text.where << '\n';
  print_condition(out, "precondition", text.precondition);
  print_condition(out, "postcondition", text.postcondition);
  print_stage(out, "recorded", commands.recorded());
  print_stage(out, "after transitive reduction", commands.reduced());
  print_stage(out, "after copy propagation", commands.propagated());
  if (!graph.idempotent) return;
  print_stage(out, "unrolled once", commands.unrolled());
  print_stage(out, "final, for any number of replays", commands.repeatable());
}

}  // namespace refrain::trace
