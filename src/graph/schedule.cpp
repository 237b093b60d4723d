#include "graph/schedule.hpp"

#include <algorithm>

namespace refrain::exec {

namespace {

/// Calls visit(from, to, carried) for each edge.
template <class Visit>
void for_each_edge(const Template& of, Visit visit) {
  for (std::uint32_t from = 0; from < of.size(); ++from) {
    const TemplateNode& node = of.nodes[from];
    const Successor* const first = of.successors.data() + node.first;
    for (std::uint32_t s = 0; s < node.carried() + node.inner; ++s)
      visit(from, first[s].index(), s < node.carried());
  }
}

/// The edges into each operation, those of one operation after another.
struct Predecessors {
  explicit Predecessors(const Template& of) : ends(of.size() + 1, 0) {
    for_each_edge(of, [&](std::uint32_t, std::uint32_t to, bool) { ++ends[to + 1]; });
    for (std::uint32_t i = 0; i < of.size(); ++i) ends[i + 1] += ends[i];
    all.resize(ends.back());
    std::vector<std::uint32_t> next(ends.begin(), ends.end() - 1);
    for_each_edge(of, [&](std::uint32_t from, std::uint32_t to, bool carried) {
      all[next[to]++] = {from, carried};
    });
  }
  struct Edge {
    std::uint32_t from;
    bool carried;
  };
  [[nodiscard]] std::span<const Edge> of(std::uint32_t index) const {
    return std::span(all).subspan(ends[index], ends[index + 1] - ends[index]);
  }
  std::vector<std::uint32_t> ends;
  std::vector<Edge> all;
};

/// So many steps of a lane.
using Reached = std::vector<std::uint32_t>;

}  // namespace

Schedule::Schedule(const Template& of, std::span<const std::uint32_t> lane_of, std::uint32_t lanes)
    : lists(lanes) {
  std::vector<std::uint32_t> place(of.size());  // in the lane's list, from 1
  for (std::uint32_t i = 0; i < of.size(); ++i) {
    List& list = lists[lane_of[i]];
    list.steps.push_back({i, 0});
    place[i] = static_cast<std::uint32_t>(list.steps.size());
  }
  const Predecessors predecessors(of);
  for (std::uint32_t own = 0; own < lanes; ++own) {
    List& list = lists[own];
    // What each step waits for at least, per lane, in this replay and in the one before.
    const auto needed = [&](std::uint32_t index, bool carried) {
      Reached needs(lanes, 0);
      for (const auto& edge : predecessors.of(index)) {
        const std::uint32_t lane = lane_of[edge.from];
        if (edge.carried == carried && lane != own)
          needs[lane] = std::max(needs[lane], place[edge.from]);
      }
      return needs;
    };
    // At the end of a replay the lane has waited for so much of the others: the next replay need not.
    Reached in_all(lanes, 0);
    for (const Step& step : list.steps)
      for (std::uint32_t lane = 0; const std::uint32_t steps : needed(step.index, false))
        in_all[lane] = std::max(in_all[lane], steps), ++lane;
    Reached before = in_all, now(lanes, 0);
    for (Step& step : list.steps) {
      const Reached inner = needed(step.index, false), carried = needed(step.index, true);
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if (inner[lane] > now[lane]) {
          list.waits.push_back({lane, inner[lane], false});
          now[lane] = inner[lane];
        } else if (now[lane] == 0 && carried[lane] > before[lane]) {
          list.waits.push_back({lane, carried[lane], true});
          before[lane] = carried[lane];
        }
      }
      step.waits = static_cast<std::uint32_t>(list.waits.size());
    }
  }
  for (const List& list : lists)
    for (const Wait& wait : list.waits) lists[wait.lane].steps[wait.steps - 1].signals = true;
}

std::size_t Schedule::bytes() const {
  std::size_t sum = 0;
  for (const List& list : lists)
    sum += list.steps.capacity() * sizeof(Step) + list.waits.capacity() * sizeof(Wait);
  return sum;
}

std::uint64_t Schedule::time_of(const Template& of, std::span<const std::uint32_t> lane_of,
                                std::span<const std::uint64_t> ns, std::uint64_t issue_ns,
                                std::uint32_t lanes) {
  constexpr std::uint64_t replays = 4;
  const Predecessors predecessors(of);
  std::vector<std::uint64_t> free_at(lanes, 0), end_of(of.size(), 0), end_before;
  std::uint64_t first_end = 0;
  for (std::uint64_t replay = 0; replay < replays; ++replay) {
    end_before = end_of;  // of the replay before; no time at all in the first one
    free_at[0] += issue_ns;
    for (std::uint32_t i = 0; i < of.size(); ++i) {
      std::uint64_t& free = free_at[lane_of[i]];
      std::uint64_t begin = free;
      for (const auto& edge : predecessors.of(i))
        begin = std::max(begin, (edge.carried ? end_before : end_of)[edge.from] +
                                    (lane_of[edge.from] != lane_of[i] ? kHandOver : 0));
      free = end_of[i] = begin + ns[i] + kStep;
    }
    if (replay == 0) first_end = std::ranges::max(free_at);
  }
  return (std::ranges::max(free_at) - first_end) / (replays - 1);
}

std::vector<std::uint32_t> Schedule::cut(const Template& of, std::span<const std::uint64_t> ns,
                                         std::uint64_t issue_ns, std::uint32_t lanes) {
  const Predecessors predecessors(of);
  std::vector<std::uint32_t> lane_of(of.size(), 0);
  std::vector<std::uint64_t> end_of(of.size(), 0), free_at(lanes, 0);
  const auto end_of_group = [&](std::uint32_t first) {
    std::uint32_t end = first + 1;
    for (; end < of.size() && of.operations[end].info == of.operations[first].info; ++end)
      for (const auto& edge : predecessors.of(end))
        if (!edge.carried && edge.from >= first) return end;
    return end;
  };
  const auto begin_at = [&](std::uint32_t index, std::uint32_t lane) {
    std::uint64_t begin = free_at[lane];
    for (const auto& edge : predecessors.of(index))
      if (!edge.carried)
        begin = std::max(begin, end_of[edge.from] + (lane_of[edge.from] != lane ? kHandOver : 0));
    return begin;
  };
  const auto put = [&](std::uint32_t index, std::uint32_t lane) {
    lane_of[index] = lane;
    free_at[lane] = end_of[index] = begin_at(index, lane) + ns[index];
  };
  for (std::uint32_t first = 0; first < of.size();) {
    const std::uint32_t end = end_of_group(first);
    const std::uint64_t issue = issue_ns * (end - first) / of.size();
    free_at[0] += issue;
    if (end == first + 1) {
      std::uint32_t best = 0;
      for (std::uint32_t lane = 1; lane < lanes; ++lane)
        if (begin_at(first, lane) < begin_at(first, best)) best = lane;
      put(first, best);
    } else {
      std::uint64_t work = issue;
      for (std::uint32_t i = first; i < end; ++i) work += ns[i];
      std::uint64_t before = issue;  // the owner's work comes first
      for (std::uint32_t i = first; i < end; ++i) {
        const std::uint64_t middle = before + ns[i] / 2;
        put(i, work == 0 ? 0
                         : static_cast<std::uint32_t>(
                               std::min<std::uint64_t>(lanes - 1, middle * lanes / work)));
        before += ns[i];
      }
    }
    first = end;
  }
  return lane_of;
}

}  // namespace refrain::exec
