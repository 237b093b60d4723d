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

  bool launches() {
    bool progress = false;
    for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
      if (plan_.statements[i].kind != Statement::Kind::launch) continue;
      const auto launch = [&](Plan& p) -> LaunchSpec& { return p.statements[i].launch; };
      const auto simplify = [&](auto&& wanted, auto&& change) {
        if (wanted(launch(plan_))) progress |= attempt([&](Plan& p) { change(launch(p)); });
      };
      simplify([](LaunchSpec& l) { return !l.children.empty(); },
               [](LaunchSpec& l) { l.children.clear(); });
      for (std::size_t c = launch(plan_).children.size(); c-- > 0;)
        progress |= attempt([&](Plan& p) {
          launch(p).children.erase(launch(p).children.begin() + static_cast<std::ptrdiff_t>(c));
        });
      for (std::size_t q = launch(plan_).requirements.size(); q-- > 0;)
        progress |= attempt([&](Plan& p) {
          launch(p).requirements.erase(launch(p).requirements.begin() +
                                       static_cast<std::ptrdiff_t>(q));
        });
      simplify([](LaunchSpec& l) { return !l.futures.empty(); },
               [](LaunchSpec& l) { l.futures.clear(); });
      simplify([](LaunchSpec& l) { return l.future >= 0; }, [](LaunchSpec& l) { l.future = -1; });
      simplify([](LaunchSpec& l) { return l.priority != 0; },
               [](LaunchSpec& l) { l.priority = 0; });
      simplify([](LaunchSpec& l) { return l.inline_if_ready; },
               [](LaunchSpec& l) { l.inline_if_ready = false; });
      progress |= points(i);
    }
    return progress;
  }

  /// Leaves out points of a launch domain.
  bool points(std::size_t statement) {
    bool progress = false;
    for (std::size_t k = plan_.statements[statement].launch.domain.points.size(); k-- > 0;) {
      const DomainSpec& now = plan_.statements[statement].launch.domain;
      if (now.points.size() < 2 || k >= now.points.size()) continue;
      progress |= attempt([&](Plan& p) {
        DomainSpec& d = p.statements[statement].launch.domain;
        d.points.erase(d.points.begin() + static_cast<std::ptrdiff_t>(k));
        d.dense = d.points.size() == 1;
      });
    }
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
