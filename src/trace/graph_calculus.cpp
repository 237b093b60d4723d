#include "trace/graph_calculus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <utility>

namespace refrain::trace {

namespace {

constexpr std::uint32_t kFence = 1;

std::string name(std::uint32_t event, bool primed) {
  return fmt::format("e{}{}", event, primed ? "'" : "");
}

void append(std::string& list, const std::string& event) {
  list += (list.empty() ? "" : ", ") + event;
}

}  // namespace

/// The operations that an operation waits for: whether those before the trace, those of its own replay, and those of the
/// one before.
struct RecordingStages::Waits {
  bool fence = false;
  std::set<std::uint32_t> inner, carried;
  [[nodiscard]] std::size_t count() const { return fence + inner.size() + carried.size(); }
};

RecordingStages::RecordingStages(const RecordingGraph& graph, const RecordedEdges& reduced,
                                 std::string summary)
    : graph_(graph), reduced_(reduced), summary_(std::move(summary)) {
  std::uint32_t next = kFence + 1;
  for (const Waits& waits : recorded_waits()) {
    merges_.push_back(waits.count() > 1 ? next++ : 0);
    ends_.push_back(next++);
  }
  unrolled_merges_ = merges_;
  const std::vector<Waits> unrolled = waits_of(reduced_.inner, graph.edges.carried);
  for (std::size_t i = 0; i < unrolled.size(); ++i)
    if (unrolled_merges_[i] == 0 && unrolled[i].count() > 1) unrolled_merges_[i] = next++;
}

// The summary is the last. The fence is before everything, so it is left to operations that wait for nothing else.
std::vector<RecordingStages::Waits> RecordingStages::waits_of(
    const std::vector<RecordedEdge>& inner, const std::vector<RecordedEdge>& carried) const {
  const auto count = static_cast<std::uint32_t>(graph_.operations.size());
  std::vector<Waits> waits(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) waits[count].inner.insert(i);
  for (const RecordedEdge& edge : inner) {
    waits[edge.to].inner.insert(edge.from);
    waits[count].inner.erase(edge.from);
  }
  for (const RecordedEdge& edge : carried) waits[edge.to].carried.insert(edge.from);
  for (Waits& each : waits) each.fence = each.inner.empty() && each.carried.empty();
  return waits;
}

std::vector<RecordingStages::Waits> RecordingStages::recorded_waits() const {
  std::vector<Waits> waits = waits_of(graph_.edges.inner, {});
  for (std::uint32_t i = 0; i < graph_.operations.size(); ++i) {
    waits[i].fence |= graph_.operations[i].entered;
    waits.back().inner.insert(i);
  }
  return waits;
}

std::string RecordingStages::commands(const std::vector<Waits>& waits, Form form, std::size_t first,
                                      std::size_t last) const {
  const bool primed = form == Form::unrolled;
  const std::vector<std::uint32_t>& merges = primed ? unrolled_merges_ : merges_;
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    std::string events;
    if (waits[i].fence) append(events, name(kFence, false));
    for (const std::uint32_t from : waits[i].inner) append(events, name(ends_[from], primed));
    for (const std::uint32_t from : waits[i].carried) append(events, name(ends_[from], false));
    if (merges[i] != 0 && (form == Form::merged || waits[i].count() > 1)) {
      text += fmt::format("{} := merge({});\n", name(merges[i], primed), events);
      events = name(merges[i], primed);
    }
    text +=
        fmt::format("{} := op({}, {});\n", name(ends_[i], primed),
                    i < graph_.operations.size() ? graph_.operations[i].text : summary_, events);
  }
  return text;
}

std::string RecordingStages::from_fence(const std::vector<Waits>& waits, Form form) const {
  return name(kFence, false) + " := fence;\n" + commands(waits, form, 0, ends_.size());
}

std::string RecordingStages::recorded() const { return from_fence(recorded_waits(), Form::merged); }

std::string RecordingStages::reduced() const {
  return from_fence(waits_of(reduced_.inner, {}), Form::merged);
}

std::string RecordingStages::propagated() const {
  return from_fence(waits_of(reduced_.inner, {}), Form::propagated);
}

std::string RecordingStages::unrolled() const {
  return commands(waits_of(reduced_.inner, graph_.edges.carried), Form::unrolled, 0, ends_.size());
}

std::string RecordingStages::repeatable() const {
  const std::vector<Waits> waits = waits_of(reduced_.inner, reduced_.carried);
  const std::size_t summary = graph_.operations.size();
  // Events that are carried on: in the first replay the fence, later the same events of the replay before.
  std::vector<std::string> carried;
  if (std::any_of(waits.begin(), waits.end() - 1, [](const Waits& w) { return w.fence; }))
    carried.push_back(name(kFence, false));
  std::set<std::uint32_t> sources;
  for (const RecordedEdge& edge : reduced_.carried) sources.insert(edge.from);
  for (const std::uint32_t from : sources) carried.push_back(name(ends_[from], false));

  std::string text = "// only in the first replay:\n";
  for (const std::string& event : carried)
    text += event + " := " + (event == carried.front() ? "fence" : carried.front()) + ";\n";
  text += '\n' + commands(waits, Form::unrolled, 0, summary);
  for (const std::uint32_t from : sources)
    text += name(ends_[from], false) + " := " + name(ends_[from], true) + ";\n";
  return text + "\n// only in the last replay:\n" +
         commands(waits, Form::unrolled, summary, summary + 1);
}

void print(std::ostream& out, const RecordingText& text, const RecordingGraph& graph,
           const RecordedEdges& reduced) {
  const RecordingStages stages(graph, reduced, text.summary);
  out << "trace " << text.trace << ", " << text.where << '\n';
  out << "precondition:\n" << text.precondition << "postcondition:\n" << text.postcondition;
  out << "\n-- recorded\n\n" << stages.recorded();
  out << "\n-- after transitive reduction\n\n" << stages.reduced();
  out << "\n-- after copy propagation\n\n" << stages.propagated();
  if (!graph.idempotent) return;
  out << "\n-- unrolled once\n\n" << stages.unrolled();
  out << "\n-- final, for any number of replays\n\n" << stages.repeatable();
}

}  // namespace refrain::trace
