#include "trace/graph_calculus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "base/text.hpp"

namespace refrain::trace {

namespace {

constexpr std::uint32_t kFence = 1;

std::string name(std::uint32_t event, bool primed) {
  return fmt::format("e{}{}", event, primed ? "'" : "");
}

/// The operations that an operation waits for: whether those before the trace, those of its own replay, and those of the
/// one before.
struct Waits {
  bool fence = false;
  std::set<std::uint32_t> inner, carried;
  [[nodiscard]] std::size_t count() const { return fence + inner.size() + carried.size(); }
};
using AllWaits = std::vector<Waits>;

/// Of each operation, and of the summary, which is the last.
class Stages {
 public:
  Stages(const RecordingGraph& graph, const RecordedEdges& reduced, const std::string& summary)
      : graph_(graph), reduced_(reduced), summary_(summary) {
    std::uint32_t next = kFence + 1;
    for (const Waits& waits : recorded_waits()) {
      merges_.push_back(waits.count() > 1 ? next++ : 0);
      ends_.push_back(next++);
    }
    unrolled_merges_ = merges_;
    const AllWaits unrolled = waits_of(reduced_.inner, graph.edges.carried);
    for (std::size_t i = 0; i < unrolled.size(); ++i)
      if (unrolled_merges_[i] == 0 && unrolled[i].count() > 1) unrolled_merges_[i] = next++;
  }

  RecordingStages all() const {
    const std::string fence = name(kFence, false) + " := fence;\n";
    const AllWaits alone = waits_of(reduced_.inner, {});
    const std::size_t end = ends_.size();
    return {fence + commands(recorded_waits(), Form::merged, 0, end),
            fence + commands(alone, Form::merged, 0, end),
            fence + commands(alone, Form::propagated, 0, end),
            commands(waits_of(reduced_.inner, graph_.edges.carried), Form::unrolled, 0, end),
            repeatable()};
  }

 private:
  /// With all merges that are numbered; after copy propagation; the same in the later of two replays.
  enum class Form : std::uint8_t { merged, propagated, unrolled };

  /// The fence is before everything, so it is left to operations that wait for nothing else.
  AllWaits waits_of(const std::vector<RecordedEdge>& inner,
                    const std::vector<RecordedEdge>& carried) const {
    const auto count = static_cast<std::uint32_t>(graph_.operations.size());
    AllWaits waits(count + 1);
    for (std::uint32_t i = 0; i < count; ++i) waits[count].inner.insert(i);
    for (const RecordedEdge& edge : inner) {
      waits[edge.to].inner.insert(edge.from);
      waits[count].inner.erase(edge.from);
    }
    for (const RecordedEdge& edge : carried) waits[edge.to].carried.insert(edge.from);
    for (Waits& each : waits) each.fence = each.inner.empty() && each.carried.empty();
    return waits;
  }

  AllWaits recorded_waits() const {
    AllWaits waits = waits_of(graph_.edges.inner, {});
    for (std::uint32_t i = 0; i < graph_.operations.size(); ++i) {
      waits[i].fence |= graph_.operations[i].entered;
      waits.back().inner.insert(i);
    }
    return waits;
  }

  std::string commands(const AllWaits& waits, Form form, std::size_t first,
                       std::size_t last) const {
    const bool primed = form == Form::unrolled;
    const std::vector<std::uint32_t>& merges = primed ? unrolled_merges_ : merges_;
    std::string text;
    for (std::size_t i = first; i < last; ++i) {
      std::vector<std::string> events;
      if (waits[i].fence) events.push_back(name(kFence, false));
      for (const std::uint32_t from : waits[i].inner) events.push_back(name(ends_[from], primed));
      for (const std::uint32_t from : waits[i].carried) events.push_back(name(ends_[from], false));
      std::string after = joined(std::vector<std::string_view>(events.begin(), events.end()));
      if (merges[i] != 0 && (form == Form::merged || waits[i].count() > 1)) {
        text += fmt::format("{} := merge({});\n", name(merges[i], primed), after);
        after = name(merges[i], primed);
      }
      const bool is_summary = i == graph_.operations.size();
      text += fmt::format("{} := op({}, {});\n", name(ends_[i], primed),
                          is_summary ? summary_ : graph_.operations[i].text, after);
    }
    return text;
  }

  std::string repeatable() const {
    const AllWaits waits = waits_of(reduced_.inner, reduced_.carried);
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

  const RecordingGraph& graph_;
  const RecordedEdges& reduced_;
  const std::string& summary_;
  /// The end of each operation; the merge of the events that each waits for, 0 where there is none.
  std::vector<std::uint32_t> ends_, merges_, unrolled_merges_;
};

}  // namespace

RecordingStages stages_of(const RecordingGraph& graph, const RecordedEdges& reduced,
                          const std::string& summary) {
  return Stages(graph, reduced, summary).all();
}

void print(std::ostream& out, const RecordingText& text, const RecordingGraph& graph,
           const RecordedEdges& reduced) {
  const RecordingStages stages = stages_of(graph, reduced, text.summary);
  out << "trace " << text.trace << ", " << text.where << '\n';
  out << "precondition:\n" << text.precondition << "postcondition:\n" << text.postcondition;
  out << "\n-- recorded\n\n" << stages.recorded;
  out << "\n-- after transitive reduction\n\n" << stages.reduced;
  out << "\n-- after copy propagation\n\n" << stages.propagated;
  if (!graph.idempotent) return;
  out << "\n-- unrolled once\n\n" << stages.unrolled;
  out << "\n-- final, for any number of replays\n\n" << stages.repeatable;
}

}  // namespace refrain::trace
