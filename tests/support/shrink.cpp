#include "support/shrink.hpp"

#include <algorithm>

namespace refrain::test {

namespace {

class Shrinker {
 public:
  Shrinker(Plan plan, const std::function<bool(const Plan&)>& fails, int tries)
      : plan_(std::move(plan)), fails_(fails), tries_(tries) {}

  Plan run() {
    while (statements() | regions() | launches() | shapes()) {}
    return plan_;
  }

 private:
  /// Keeps the smaller plan if it still fails.
  bool keep(const Plan& smaller) {
    if (tries_ <= 0) return false;
    --tries_;
    if (!fails_(smaller)) return false;
    plan_ = smaller;
    return true;
  }
  template <class Change>
  bool attempt(Change&& change) {
    Plan smaller = plan_;
    change(smaller);
    return keep(smaller);
  }

  /// Leaves out runs of statements, long ones first.
  bool statements() {
    bool progress = false;
    for (std::size_t length = std::max<std::size_t>(1, plan_.statements.size() / 2); length > 0;
         length /= 2)
      for (std::size_t at = plan_.statements.size(); at-- > 0;) {
        if (at + length > plan_.statements.size()) continue;
        progress |= attempt([&](Plan& p) {
          const auto first = p.statements.begin() + static_cast<std::ptrdiff_t>(at);
          p.statements.erase(first, first + static_cast<std::ptrdiff_t>(length));
        });
      }
    return progress;
  }

  /// Names whole regions instead of pieces, so that partitions may go.
  bool regions() {
    bool progress = false;
    for (std::size_t i = 0; i < plan_.statements.size(); ++i)
      for (std::size_t k = 0; k < references(plan_.statements[i]).size(); ++k) {
        if (references(plan_.statements[i])[k]->partition < 0) continue;
        for (int root = 0; root < 4; ++root)
          if (attempt([&](Plan& p) { *references(p.statements[i])[k] = {root, -1, 0}; })) {
            progress = true;
            break;
          }
      }
    return progress;
  }
  static std::vector<RegionRef*> references(Statement& s) {
    std::vector<RegionRef*> found{&s.partition.parent, &s.source.region, &s.target.region};
    for (RequirementSpec& q : s.launch.requirements) found.push_back(&q.region);
    return found;
  }

  /// Where a launch stands: a statement of the program, then children of children.
  using Path = std::vector<std::size_t>;
  static LaunchSpec& launch_at(Plan& plan, const Path& path) {
    LaunchSpec* launch = &plan.statements[path[0]].launch;
    for (std::size_t i = 1; i < path.size(); ++i) launch = &launch->children[path[i]].launch;
    return *launch;
  }
  static void find_launches(const std::vector<Statement>& statements, Path& path,
                            std::vector<Path>& found) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (statements[i].kind != Statement::Kind::launch) continue;
      path.push_back(i);
      found.push_back(path);
      find_launches(statements[i].launch.children, path, found);
      path.pop_back();
    }
  }

  bool launches() {
    bool progress = false;
    for (std::size_t next = 0;; ++next) {
      std::vector<Path> all;  // again each time: the last one may have lost children
      Path path;
      find_launches(plan_.statements, path, all);
      if (next >= all.size()) return progress;
      progress |= simplify(all[next]);
    }
  }

  bool simplify(const Path& path) {
    bool progress = false;
    const auto change = [&](auto&& wanted, auto&& apply) {
      if (wanted(launch_at(plan_, path)))
        progress |= attempt([&](Plan& p) { apply(launch_at(p, path)); });
    };
    change([](LaunchSpec& l) { return !l.children.empty(); },
           [](LaunchSpec& l) { l.children.clear(); });
    progress |= thin_out(
        path, [](LaunchSpec & l) -> auto& { return l.children; });
    progress |= thin_out(
        path, [](LaunchSpec & l) -> auto& { return l.requirements; });
    progress |= thin_out(
        path, [](LaunchSpec & l) -> auto& { return l.futures; });
    change([](LaunchSpec& l) { return l.future >= 0; }, [](LaunchSpec& l) { l.future = -1; });
    change([](LaunchSpec& l) { return l.throws_at >= 0; }, [](LaunchSpec& l) { l.throws_at = -1; });
    for (std::size_t i = 0; i < launch_at(plan_, path).requirements.size(); ++i)
      change([i](LaunchSpec& l) { return l.requirements[i].relaxed; },
             [i](LaunchSpec& l) { l.requirements[i].relaxed = false; });
    change([](LaunchSpec& l) { return l.priority != 0; }, [](LaunchSpec& l) { l.priority = 0; });
    change([](LaunchSpec& l) { return l.inline_if_ready; },
           [](LaunchSpec& l) { l.inline_if_ready = false; });
    change([](LaunchSpec& l) { return !l.domain.dense && l.domain.points.size() == 1; },
           [](LaunchSpec& l) { l.domain.dense = true; });
    progress |= thin_out(
        path, [](LaunchSpec & l) -> auto& {
          if (l.domain.points.size() > 1) l.domain.dense = false;
          return l.domain.points;
        });
    return progress;
  }

  /// Leaves out the entries of a list of a launch, one at a time.
  template <class List>
  bool thin_out(const Path& path, List&& list) {
    bool progress = false;
    Plan copy = plan_;
    for (std::size_t k = list(launch_at(copy, path)).size(); k-- > 0;)
      progress |= attempt([&](Plan& p) {
        auto& entries = list(launch_at(p, path));
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(k));
      });
    return progress;
  }

  /// Leaves out points and fields of regions. (Pieces given as masks then mean other points.)
  bool shapes() {
    bool progress = false;
    for (std::size_t s = 0; s < plan_.shapes.size(); ++s) {
      for (std::size_t k = plan_.shapes[s].points.size(); k-- > 0;)
        if (plan_.shapes[s].points.size() > 1)
          progress |= attempt([&](Plan& p) {
            auto& all = p.shapes[s].points;
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
          });
      while (plan_.shapes[s].fields.size() > 1 &&
             attempt([&](Plan& p) { p.shapes[s].fields.pop_back(); }))
        progress = true;
    }
    return progress;
  }

  Plan plan_;
  const std::function<bool(const Plan&)>& fails_;
  int tries_;
};

}  // namespace

Plan shrink(Plan plan, const std::function<bool(const Plan&)>& fails, int tries) {
  return Shrinker(std::move(plan), fails, tries).run();
}

}  // namespace refrain::test
