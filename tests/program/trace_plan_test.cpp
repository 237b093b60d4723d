// Random programs must do with traces everything that tracing has to cope with, often enough.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/generate.hpp"
#include "support/interpreter.hpp"
#include "support/text.hpp"

namespace refrain::test::trace_plan_test {
namespace {

using Kind = Statement::Kind;

/// What a call is, but for its values.
std::string call_text(const Resolved& r) {
  std::string text = std::to_string(static_cast<int>(r.spec.kind));
  const auto add = [&text](const ResolvedArgument& a) {
    for (const auto part : {a.tree, a.field, static_cast<int>(a.privilege), static_cast<int>(a.op)})
      text += " " + std::to_string(part);
    text += to_text(a.points);
  };
  if (r.spec.kind == Kind::launch) text += " t" + std::to_string(r.spec.launch.task);
  for (const PointTask& t : r.points) std::ranges::for_each(t.arguments, add);
  add(r.source);
  add(r.target);
  return text;
}

/// How often things happen.
class Census {
 public:
  void take(const Program& program) {
    seen_.clear();
    last_.clear();
    between_.clear();
    turns_.clear();
    take(program.statements);
  }
  std::map<std::string, int> count;

 private:
  void take(const std::vector<Resolved>& statements) {
    int open = -1;
    std::vector<std::string> calls;
    for (const Resolved& r : statements) {
      if (r.spec.kind == Kind::begin_trace) {
        open = r.spec.id;
        calls.clear();
      } else if (r.spec.kind == Kind::end_trace) {
        occurred(open, calls);
        open = -1;
      } else {
        if (open >= 0) calls.push_back(call_text(r));
        note(r, open >= 0);
      }
      for (const PointTask& t : r.points)
        if (std::ranges::any_of(t.children, [](const Resolved& child) {
              return child.spec.kind == Kind::begin_trace;
            }))
          ++count["traces among children"];
    }
  }

  void note(const Resolved& r, bool inside) {
    const auto in = [&](const char* what) {
      if (inside) ++count[std::string(what) + " inside"];
    };
    switch (r.spec.kind) {
      case Kind::get:
      case Kind::fence: in("waits"); break;
      case Kind::access: in("accesses"); break;
      case Kind::create: in("regions made"); break;
      case Kind::partition: in("partitions made"); break;
      case Kind::destroy_region: in("regions destroyed"); break;
      case Kind::destroy_partition: in("partitions destroyed"); break;
      case Kind::attach:
      case Kind::detach: in("attachments"); break;
      case Kind::reduce: in("reduced futures"); break;
      case Kind::fill:
      case Kind::fill_future: in("fills"); break;
      case Kind::copy: in("copies"); break;
      case Kind::launch: in(r.spec.launch.bare ? "bare launches" : "launches with values"); break;
      case Kind::remap: ++count[inside ? "remapped inside" : "remapped outside"]; break;
      default: break;
    }
    if (!inside) between_.push_back(r.spec.kind);
  }

  void occurred(int id, const std::vector<std::string>& calls) {
    ++count["occurrences"];
    auto& before = seen_[id];
    if (std::ranges::find(before, calls) != before.end()) {
      ++count["repeated"];
    } else if (const auto longer = std::ranges::find_if(
                   before,
                   [&](const auto& other) {
                     return calls.size() < other.size() &&
                            std::equal(calls.begin(), calls.end(), other.begin());
                   });
               longer != before.end()) {
      ++count["left early after " + std::to_string(std::min<std::size_t>(calls.size(), 4))];
    } else if (!before.empty()) {
      ++count["changed"];
    }
    before.push_back(calls);
    if (!last_.empty() && last_.back() != id && std::ranges::find(last_, id) != last_.end())
      ++count["interleaved"];
    if (!last_.empty() && last_.back() == id) {
      ++count[between_.empty() ? "directly following" : "something in between"];
      if (std::ranges::find(between_, Kind::remap) != between_.end())
        ++count["remapped in between"];
    }
    if (!between_.empty()) turns_.clear();
    turns_.push_back(id);
    if (in_turn()) ++count["in turn"];
    last_.push_back(id);
    between_.clear();
  }

  /// Two or three traces have come three times, one after the other.
  [[nodiscard]] bool in_turn() const {
    for (const std::size_t length : {2u, 3u}) {
      const std::size_t size = turns_.size();
      if (size < 3 * length || turns_[size - 1] == turns_[size - 2]) continue;
      if (std::equal(turns_.end() - static_cast<std::ptrdiff_t>(2 * length), turns_.end(),
                     turns_.end() - static_cast<std::ptrdiff_t>(3 * length)))
        return true;
    }
    return false;
  }

  std::map<int, std::vector<std::vector<std::string>>> seen_;  ///< by trace
  std::vector<int> last_;                                      ///< traces, in order
  std::vector<int> turns_;                                     ///< with nothing in between
  std::vector<Kind> between_;                                  ///< since the last one
};

TEST(Plan, HasEverythingThatHappensToTraces) {
  Census census;
  constexpr int programs = 2000, least = 8;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) census.take(resolve(generate(seed)));
  for (const char* what : {"repeated",
                           "changed",
                           "left early after 0",
                           "left early after 1",
                           "left early after 2",
                           "left early after 3",
                           "left early after 4",
                           "interleaved",
                           "in turn",
                           "directly following",
                           "something in between",
                           "remapped in between",
                           "remapped inside",
                           "remapped outside",
                           "waits inside",
                           "accesses inside",
                           "regions made inside",
                           "partitions made inside",
                           "regions destroyed inside",
                           "partitions destroyed inside",
                           "attachments inside",
                           "reduced futures inside",
                           "fills inside",
                           "copies inside",
                           "bare launches inside",
                           "launches with values inside",
                           "traces among children"})
    EXPECT_GE(census.count[what], least) << what;
}

}  // namespace
}  // namespace refrain::test::trace_plan_test
