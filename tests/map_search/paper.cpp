#include "map_search/paper.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace refrain::map_search::paper {

namespace {

/// A collection argument: its task, and its place among this task's arguments.
using Tc = std::pair<int, int>;
using Edge = std::pair<std::uint64_t, std::pair<Tc, Tc>>;
using O = std::map<Tc, std::set<Tc>>;

/// f: d for each t, k_p for each t, k_m for each (t, c).
struct F {
  std::map<int, int> d, k;
  std::map<Tc, int> r;
};

struct Paper {
  const Space& space;
  const std::function<double(const Mapping&)>& evaluate;
  Notes& notes;
  std::map<int, std::vector<Tc>> collections;  ///< in the program's order
  std::map<Tc, std::uint64_t> bytes;

  Paper(const Space& s, const std::function<double(const Mapping&)>& e, Notes& n)
      : space(s), evaluate(e), notes(n) {
    for (std::uint32_t i = 0; i < s.arguments.size(); ++i) {
      const Tc tc = argument(i);
      collections[tc.first].push_back(tc);
      bytes[tc] = s.arguments[i].bytes;
    }
  }

  [[nodiscard]] Tc argument(std::uint32_t index) const {
    int place = 0;
    for (std::uint32_t i = 0; i < index; ++i)
      place += space.arguments[i].task == space.arguments[index].task;
    return {static_cast<int>(space.arguments[index].task), place};
  }
  [[nodiscard]] bool addressable(int processor, int memory) const {
    const auto& all = space.processors[static_cast<std::size_t>(processor)].memories;
    return std::find(all.begin(), all.end(), memory) != all.end();
  }

  double evaluate_mapping(const F& f) const {
    Mapping mapping;
    for (const auto& [t, d] : f.d) mapping.distribution.push_back(static_cast<Kind>(d));
    for (const auto& [t, k] : f.k) mapping.processor.push_back(static_cast<Kind>(k));
    for (const auto& [tc, r] : f.r) mapping.memory.push_back(static_cast<Kind>(r));
    return evaluate(mapping);
  }

  F starting() const {
    const Mapping start = starting_point(space);
    F f;
    for (std::size_t t = 0; t < space.tasks.size(); ++t) {
      f.d[static_cast<int>(t)] = start.distribution[t];
      f.k[static_cast<int>(t)] = start.processor[t];
    }
    for (std::uint32_t i = 0; i < space.arguments.size(); ++i) f.r[argument(i)] = start.memory[i];
    return f;
  }

  void ccd(int num_rotations) {
    F f = starting();
    double p = evaluate_mapping(f);
    std::vector<Edge> c;
    c.reserve(space.overlaps.size());
    for (const Overlap& overlap : space.overlaps)
      c.push_back({overlap.bytes, {argument(overlap.a), argument(overlap.b)}});
    std::stable_sort(c.begin(), c.end(),
                     [](const Edge& a, const Edge& b) { return a.first < b.first; });
    if (num_rotations == 1) c.clear();
    const auto original_num_edges = static_cast<int>(c.size());
    for (int r = 1; r <= num_rotations; ++r) {
      O o;
      for (const auto& [tc, size] : bytes) o[tc].insert(tc);
      for (const Edge& edge : c) {
        o[edge.second.first].insert(edge.second.second);
        o[edge.second.second].insert(edge.second.first);
      }
      std::vector<int> by_runtime;
      by_runtime.reserve(f.k.size());
      for (const auto& [t, k] : f.k) by_runtime.push_back(t);
      std::stable_sort(by_runtime.begin(), by_runtime.end(), [&](int a, int b) {
        return space.tasks[static_cast<std::size_t>(a)].seconds >
               space.tasks[static_cast<std::size_t>(b)].seconds;
      });
      for (const int t : by_runtime) optimize_task(t, f, p, o);
      if (r < num_rotations) {
        const int left = original_num_edges - original_num_edges * r / (num_rotations - 1);
        while (static_cast<int>(c.size()) > left) c.erase(c.begin());
      }
    }
  }

  void optimize_task(int t, F& f, double& p, const O& o) {
    const bool group = space.tasks[static_cast<std::size_t>(t)].group;
    for (int d = 0; d < (group ? static_cast<int>(space.distributions.size()) : 1); ++d) {
      F f1 = f;
      f1.d[t] = d;
      test_mapping(f1, f, p);
    }
    for (int k = 0; k < static_cast<int>(space.processors.size()); ++k) {
      std::vector<Tc> by_size = collections[t];
      std::stable_sort(by_size.begin(), by_size.end(),
                       [&](const Tc& a, const Tc& b) { return bytes[a] > bytes[b]; });
      if (by_size.empty()) {
        F f1 = f;
        f1.k[t] = k;
        test_mapping(f1, f, p);
      }
      for (const Tc& c : by_size)
        for (int r = 0; r < static_cast<int>(space.memories.size()); ++r) {
          if (!addressable(k, r)) continue;
          F f1 = f;
          f1.k[t] = k;
          f1.r[c] = r;
          test_mapping(co_location_constraints(f1, t, c, k, r, o), f, p);
        }
    }
  }

  void test_mapping(const F& f_test, F& f, double& p) const {
    const double p_test = evaluate_mapping(f_test);
    if (p_test < p) {
      f = f_test;
      p = p_test;
    }
  }

  F co_location_constraints(const F& f, int t, const Tc& tc, int k, int r, const O& o) const {
    ++notes.co_located;
    F f1 = f;
    std::set<int> t_check;
    std::set<Tc> c_check;
    for (const Tc& tci : o.at(tc)) {
      if (tci != tc) f1.r[tci] = r;
      t_check.insert(tci.first);
    }
    for (;;) {
      fixed_point(f1, t, tc, k, o, t_check, c_check);
      // The paper's last line is behind us. Its constraint 1 has to hold, so that the mapping can be run.
      for (const auto& [tci, m] : f1.r)
        if (!addressable(f1.k[tci.first], m)) t_check.insert(tci.first);
      if (t_check.empty()) break;
      ++notes.looked_again;
    }
    return f1;
  }

  /// Lines 7 to 26.
  void fixed_point(F& f1, int t, const Tc& tc, int k, const O& o, std::set<int>& t_check,
                   std::set<Tc>& c_check) const {
    while (!t_check.empty() || !c_check.empty()) {
      while (!t_check.empty()) {
        const int ti = *t_check.begin();
        t_check.erase(t_check.begin());
        for (const Tc& tci : collections.at(ti))
          if (!addressable(f1.k[ti], f1.r[tci])) {
            if (ti != t) f1.k[ti] = k;
            c_check.insert(tci);
          }
      }
      while (!c_check.empty()) {
        const Tc tci = *c_check.begin();
        c_check.erase(c_check.begin());
        int m = 0;
        while (!addressable(f1.k[tci.first], m)) ++m;
        if (o.at(tci).count(tc) > 0) continue;
        f1.r[tci] = m;
        for (const Tc& tcj : o.at(tci)) {
          if (tcj == tci || f1.r[tcj] == m) continue;
          f1.r[tcj] = m;
          if (!addressable(f1.k[tcj.first], m)) t_check.insert(tcj.first);
          c_check.erase(tcj);
        }
      }
    }
  }
};

}  // namespace

void ccd(const Space& space, int rotations, const std::function<double(const Mapping&)>& evaluate,
         Notes& notes) {
  Paper(space, evaluate, notes).ccd(rotations);
}

}  // namespace refrain::map_search::paper
