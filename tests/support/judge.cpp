#include "support/judge.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <set>
#include <tuple>

#include "exec/fiber.hpp"
#include "support/order.hpp"
#include "support/text.hpp"

namespace refrain::test {

namespace {

using exec::NodeKind;

const char* kind_name(NodeKind kind) {
  constexpr std::array names{"task", "copy", "fill", "fold", "access", "detach", "other"};
  return names[static_cast<std::size_t>(kind)];
}

const char* role_name(Role role) {
  constexpr std::array names{"call", "move",        "send",           "receive",    "give",
                             "take", "send future", "receive future", "send result"};
  return names[static_cast<std::size_t>(role)];
}

std::string describe(const Program& program, const NaiveOperation& o) {
  std::string text = fmt::format("{} of call {} point {}", kind_name(o.kind), o.call, o.rank);
  if (o.role > Role::move) text = fmt::format("{} ({}, shard {})", text, role_name(o.role), o.peer);
  if (o.argument >= 0) text += fmt::format(" argument {}", o.argument);
  if (o.field >= 0)
    text += fmt::format(", tree {}.f{} {} memory {} -> {}", o.tree, o.field, to_text(o.points),
                        o.source, o.target);
  return text + ", statement " +
         (o.statement != nullptr ? to_text(program, *o.statement) : std::string("the end\n"));
}

/// But for its number.
std::string describe_work(const analysis::LoggedOperation& o) {
  std::string text = fmt::format("{} of call {} point {}", kind_name(o.kind), o.call, o.rank);
  if (o.argument >= 0) text += fmt::format(" argument {}", o.argument);
  if (o.points)
    text += fmt::format(" {} {} memory {} -> {}", o.field, data::to_string(*o.points), o.source,
                        o.target);
  return text;
}

bool moves_data(NodeKind kind) {
  return kind == NodeKind::copy || kind == NodeKind::fill || kind == NodeKind::fold;
}
/// Has each point an operation of its own?
bool is_per_point(const NaiveOperation& o) {
  return o.role == Role::move || o.role == Role::send || o.role == Role::receive;
}
/// Is it logged with a field and points?
bool has_data(NodeKind kind) {
  return moves_data(kind) || kind == NodeKind::access || kind == NodeKind::detach;
}

struct Link {
  int from, to;
  const char* rule;
};

/// The transitive closure; edges lead from lower to higher numbers.
Order close(std::size_t n, const std::vector<Link>& links) {
  std::vector<std::vector<int>> before(n);
  for (const Link& l : links) before[static_cast<std::size_t>(l.to)].push_back(l.from);
  Order order(n, n);
  for (int i = 0; i < static_cast<int>(n); ++i)
    for (const int b : before[static_cast<std::size_t>(i)]) {
      order.add(b, i);
      order.inherit(b, i);
    }
  return order;
}

class Matcher {
 public:
  Matcher(const Program& program, const NaiveGraph& naive, const ContextLog& logged)
      : program_(program), naive_(naive), logged_(logged), taken_(logged.operations.size()) {
    for (std::size_t i = 0; i < logged.operations.size(); ++i) {
      const auto& o = logged.operations[i];
      by_key_[key(o.kind, o.call, o.rank, o.argument)].push_back(static_cast<int>(i));
    }
  }

  std::string match(std::vector<int>& to) {
    std::string text;
    for (const NaiveOperation& o : naive_.operations) {
      const int found = find(o);
      if (found < 0) text += "lacking: " + describe(program_, o);
      else take(taken_[static_cast<std::size_t>(found)], o);
      to.push_back(found);
    }
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const auto& o = logged_.operations[i];
      if (o.points ? count(taken_[i].points) != static_cast<int>(o.points->volume())
                   : !taken_[i].by_any)
        text += "superfluous: " + refrain::test::describe(o) + "\n";
    }
    return text;
  }

 private:
  using Key = std::tuple<int, std::uint64_t, std::size_t, int>;
  static Key key(NodeKind kind, std::uint64_t call, std::size_t rank, int argument) {
    const bool named = moves_data(kind) || kind == NodeKind::other;
    return {static_cast<int>(kind), call, rank, named ? argument : -1};
  }
  int find(const NaiveOperation& o) const {
    const auto found = by_key_.find(key(o.kind, o.call, o.rank, o.argument));
    if (found == by_key_.end()) return -1;
    for (const int i : found->second)
      if (is_free(taken_[static_cast<std::size_t>(i)], o) && fits(o, i)) return i;
    return -1;
  }
  bool fits(const NaiveOperation& o, int number) const {
    const auto& l = logged_.operations[static_cast<std::size_t>(number)];
    const std::string& name = logged_.names[static_cast<std::size_t>(number)];
    if (o.kind == NodeKind::copy) {
      const char* const message = o.role == Role::send      ? "send"
                                  : o.role == Role::receive ? "receive"
                                                            : nullptr;
      if (message != nullptr ? name != message : name == "send" || name == "receive") return false;
    }
    if (o.role == Role::give && name != "send") return false;
    if (o.role == Role::take && name != "receive") return false;
    if (!has_data(o.kind)) return true;
    if (l.field != field_of(ValueKind::f64, o.field).name || l.target != o.target || !l.points)
      return false;
    if (o.kind == NodeKind::copy && l.source != o.source) return false;
    for (int i = 0; i < max_points; ++i)
      if (has(o.points, i) &&
          !l.points->contains(program_.shape(o.tree).points[static_cast<std::size_t>(i)]))
        return false;
    return true;
  }

  const Program& program_;
  const NaiveGraph& naive_;
  const ContextLog& logged_;
  /// Which naive operations a logged one was matched with: of this tree, with these points, of a message with this shard.
  struct Taken {
    bool by_any = false;
    Role role = Role::call;
    int tree = -1, peer = -1;
    Mask points = 0;
  };
  static void take(Taken& taken, const NaiveOperation& by) {
    taken = {true, by.role, by.tree, by.peer, taken.points | by.points};
  }
  /// What goes home, or to attached memory at the end, may look alike for two arguments, and so may what goes to two shards;
  /// both analyses take them in order.
  static bool is_free(const Taken& taken, const NaiveOperation& o) {
    if (!taken.by_any) return true;
    if (taken.role != o.role || taken.tree != o.tree || taken.peer != o.peer) return false;
    return o.role == Role::take || (is_per_point(o) && (taken.points & o.points) == 0);
  }
  std::vector<Taken> taken_;
  std::map<Key, std::vector<int>> by_key_;
};

}  // namespace

namespace {

/// By how a body waits, which is unique among the bodies that run.
struct Parents {
  std::mutex mutex;
  std::map<const void*, const PointTask*> by_body;
};
Parents& parents() {
  static Parents all;
  return all;
}

}  // namespace

CurrentParent::CurrentParent(const PointTask* parent) {
  const std::lock_guard lock(parents().mutex);
  parents().by_body[exec::body_local()] = parent;
}
CurrentParent::~CurrentParent() {
  const std::lock_guard lock(parents().mutex);
  parents().by_body.erase(exec::body_local());
}
const PointTask* CurrentParent::get() {
  const std::lock_guard lock(parents().mutex);
  const auto found = parents().by_body.find(exec::body_local());
  return found == parents().by_body.end() ? nullptr : found->second;
}

void GraphRecorder::operation(const analysis::LoggedOperation& operation) {
  const std::lock_guard lock(mutex_);
  const auto [context, added] = contexts_.try_emplace(operation.scope);
  const PointTask* parent = operation.scope == 0 ? nullptr : CurrentParent::get();
  if (added && (operation.scope == 0 || parent != nullptr)) scope_of_[parent] = operation.scope;
  ContextLog& log = context->second;
  if (!log.operations.empty() && log.operations.back().seq >= operation.seq)
    log.complaints.push_back("operations are not logged in ascending order: " +
                             describe(operation));
  log.names.push_back(operation.info != nullptr ? operation.info->name : std::string());
  log.position[operation.seq] = static_cast<int>(log.operations.size());
  log.operations.push_back(operation);
}

void GraphRecorder::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) {
  const std::lock_guard lock(mutex_);
  ContextLog& log = contexts_[scope];
  const auto a = log.position.find(from), b = log.position.find(to);
  if (a == log.position.end() || b == log.position.end() || a->second >= b->second)
    log.complaints.push_back(
        fmt::format("an edge from {} to {} joins no earlier to a later operation", from, to));
  else log.edges.push_back({a->second, b->second});
}

const ContextLog& GraphRecorder::log_of(const PointTask* parent) const {
  static const ContextLog nothing;
  const auto scope = scope_of_.find(parent);
  return scope == scope_of_.end() ? nothing : contexts_.at(scope->second);
}

std::string describe(const analysis::LoggedOperation& o) {
  return fmt::format("[{}] {}", o.seq, describe_work(o));
}

std::string match(const Program& program, const NaiveGraph& naive, const ContextLog& logged,
                  std::vector<int>& to) {
  std::string text;
  for (const std::string& complaint : logged.complaints) text += complaint + "\n";
  return text + Matcher(program, naive, logged).match(to);
}

std::string difference(const ContextLog& expected, const ContextLog& found) {
  std::string text;
  for (const std::string& complaint : found.complaints) text += complaint + "\n";
  const std::size_t n = std::min(expected.operations.size(), found.operations.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::string want = describe_work(expected.operations[i]);
    const std::string have = describe_work(found.operations[i]);
    if (want != have) return text + fmt::format("expected {}\n   found {}\n", want, have);
  }
  if (expected.operations.size() != found.operations.size())
    return text + fmt::format("expected {} operations, found {}\n", expected.operations.size(),
                              found.operations.size());
  const auto order_of = [](const ContextLog& log) {
    std::vector<Link> links;
    links.reserve(log.edges.size());
    for (const ContextLog::Edge& e : log.edges) links.push_back({e.from, e.to, ""});
    return close(log.operations.size(), links);
  };
  const Order want = order_of(expected), have = order_of(found);
  const auto report = [&](const char* what, const ContextLog::Edge& e) {
    text += fmt::format("{}: {}\n     to {}\n", what,
                        describe(found.operations[static_cast<std::size_t>(e.from)]),
                        describe(found.operations[static_cast<std::size_t>(e.to)]));
  };
  for (const ContextLog::Edge& e : expected.edges)
    if (!have.has(e.from, e.to)) report("missing order: from", e);
  for (const ContextLog::Edge& e : found.edges)
    if (!want.has(e.from, e.to)) report("spurious edge: from", e);
  return text;
}

std::string judge(const Program& program, const NaiveGraph& naive, const ContextLog& logged) {
  std::vector<int> to;
  std::string text = match(program, naive, logged, to);
  if (!text.empty()) return text;

  std::vector<Link> real, defined;
  for (const ContextLog::Edge& e : logged.edges) real.push_back({e.from, e.to, ""});
  for (const NaiveEdge& e : naive.edges) {
    const int from = to[static_cast<std::size_t>(e.from)], at = to[static_cast<std::size_t>(e.to)];
    if (from < at) defined.push_back({from, at, e.rule});
    else if (from > at)
      text += fmt::format("logged before what it must come after ({}): {}\n", e.rule,
                          describe(logged.operations[static_cast<std::size_t>(at)]));
  }
  const std::size_t n = logged.operations.size();
  const Order have = close(n, real), want = close(n, defined);
  const auto report = [&](const char* what, const Link& l) {
    text += fmt::format("{}: {}\n     to {}\n", what,
                        describe(logged.operations[static_cast<std::size_t>(l.from)]),
                        describe(logged.operations[static_cast<std::size_t>(l.to)]));
    if (l.rule[0] != '\0') text += fmt::format("     {}\n", l.rule);
  };
  for (const Link& l : defined)
    if (!have.has(l.from, l.to)) report("missing order: from", l);
  for (const Link& l : real)
    if (!want.has(l.from, l.to)) report("spurious edge: from", l);
  return text;
}

namespace {

/// The children of these statements' points; `here`: which points are judged, null for all.
std::string judge_children(
    const Program& program, const MappingRule& mapping, const GraphRecorder& logged,
    const std::vector<Resolved>& statements,
    const std::function<bool(const Resolved&, std::size_t rank)>& here = nullptr) {
  for (const Resolved& r : statements)
    for (std::size_t rank = 0; rank < r.points.size(); ++rank) {
      const PointTask& parent = r.points[rank];
      if (parent.children.empty() || (here && !here(r, rank))) continue;
      const NaiveGraph naive = NaiveAnalysis(program, mapping).analyse_children(r, rank);
      std::string text = judge(program, naive, logged.log_of(&parent));
      if (!text.empty())
        return text +
               fmt::format("     among the children of point {} of {}", rank, to_text(program, r));
      text = judge_children(program, mapping, logged, parent.children);
      if (!text.empty()) return text;
    }
  return {};
}

bool has_children(const Program& program) {
  for (const Resolved& r : program.statements)
    for (const PointTask& t : r.points)
      if (!t.children.empty()) return true;
  return false;
}

}  // namespace

std::string judge_all(const Program& program, const MappingRule& mapping,
                      const GraphRecorder& logged, bool limited) {
  if (limited && has_children(program)) return {};
  NaiveAnalysis analysis(program, mapping, limited);
  const NaiveGraph naive = analysis.analyse();
  if (analysis.fell_back()) return {};
  std::string text = judge(program, naive, logged.log_of(nullptr));
  if (!text.empty()) return text;
  return judge_children(program, mapping, logged, program.statements);
}

std::string judge_share(const Program& program, const MappingRule& mapping, const NaiveGraph& share,
                        const GraphRecorder& logged) {
  std::string text = judge(program, share, logged.log_of(nullptr));
  if (!text.empty()) return text;
  std::set<std::pair<const Resolved*, std::size_t>> own;
  for (const NaiveOperation& o : share.operations)
    if (o.kind == NodeKind::task) own.emplace(o.statement, o.part);
  return judge_children(program, mapping, logged, program.statements,
                        [&](const Resolved& r, std::size_t rank) {
                          return own.contains({&r, rank});
                        });
}

}  // namespace refrain::test
