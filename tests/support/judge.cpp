#include "support/judge.hpp"

#include <fmt/format.h>

#include <array>
#include <tuple>

#include "exec/fiber.hpp"
#include "support/text.hpp"

namespace refrain::test {

namespace {

using exec::NodeKind;

const char* kind_name(NodeKind kind) {
  constexpr std::array names{"task", "copy", "fill", "fold", "access", "detach", "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::string describe(const Program& program, const NaiveOperation& o) {
  std::string text = fmt::format("{} of call {} point {}", kind_name(o.kind), o.call, o.rank);
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
std::string describe(const analysis::LoggedOperation& o) {
  return fmt::format("[{}] {}", o.seq, describe_work(o));
}

bool moves_data(NodeKind kind) {
  return kind == NodeKind::copy || kind == NodeKind::fill || kind == NodeKind::fold;
}
/// Is it logged with a field and points?
bool has_data(NodeKind kind) {
  return moves_data(kind) || kind == NodeKind::access || kind == NodeKind::detach;
}

/// A square of bits: row i holds what comes before i.
class Order {
 public:
  explicit Order(std::size_t n) : words_((n + 63) / 64), bits_(n * words_) {}
  void add(int before, int after) { bits_[row(after) + word(before)] |= Mask{1} << (before % 64); }
  [[nodiscard]] bool has(int before, int after) const {
    return (bits_[row(after) + word(before)] >> (before % 64) & 1) != 0;
  }
  /// Adds everything that comes before `before`.
  void inherit(int before, int after) {
    for (std::size_t w = 0; w < words_; ++w) bits_[row(after) + w] |= bits_[row(before) + w];
  }

 private:
  [[nodiscard]] std::size_t row(int i) const { return static_cast<std::size_t>(i) * words_; }
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct Link {
  int from, to;
  const char* rule;
};

/// The transitive closure; edges lead from lower to higher numbers.
Order close(std::size_t n, const std::vector<Link>& links) {
  std::vector<std::vector<int>> before(n);
  for (const Link& l : links) before[static_cast<std::size_t>(l.to)].push_back(l.from);
  Order order(n);
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
      if (o.kind == NodeKind::other) others_.push_back(static_cast<int>(i));
    }
  }

  /// The logged operation for each naive one; text where one is lacking or left over.
  std::string match(std::vector<int>& to) {
    std::string text;
    std::size_t other = 0;
    for (const NaiveOperation& o : naive_.operations) {
      int found = -1;
      if (o.kind == NodeKind::other) found = other < others_.size() ? others_[other++] : -1;
      else found = find(o);
      if (found < 0) text += "lacking: " + describe(program_, o);
      else take(taken_[static_cast<std::size_t>(found)], o);
      to.push_back(found);
    }
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const auto& o = logged_.operations[i];
      const bool nothing = moves_data(o.kind) && o.kind != NodeKind::fold && o.points->empty();
      if (!taken_[i].by_any && !nothing) text += "superfluous: " + describe(o) + "\n";
    }
    return text;
  }

 private:
  using Key = std::tuple<int, std::uint64_t, std::size_t, int>;
  static Key key(NodeKind kind, std::uint64_t call, std::size_t rank, int argument) {
    return {static_cast<int>(kind), call, rank, moves_data(kind) ? argument : -1};
  }
  int find(const NaiveOperation& o) const {
    const auto found = by_key_.find(key(o.kind, o.call, o.rank, o.argument));
    if (found == by_key_.end()) return -1;
    for (const int i : found->second) {
      // What goes home, or to attached memory at the end, may look alike for two arguments; both analyses
      // take them in order.
      const Taken& taken = taken_[static_cast<std::size_t>(i)];
      if (taken.by_any && (taken.tree != o.tree || (taken.points & o.points) != 0)) continue;
      if (fits(o, logged_.operations[static_cast<std::size_t>(i)])) return i;
    }
    return -1;
  }
  bool fits(const NaiveOperation& o, const analysis::LoggedOperation& l) const {
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
  /// Which naive operations a logged one was matched with: of this tree, with these points.
  struct Taken {
    bool by_any = false;
    int tree = -1;
    Mask points = 0;
  };
  static void take(Taken& taken, const NaiveOperation& by) {
    taken = {true, by.tree, taken.points | by.points};
  }
  std::vector<Taken> taken_;
  std::map<Key, std::vector<int>> by_key_;
  std::vector<int> others_;
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
  std::string text;
  for (const std::string& complaint : logged.complaints) text += complaint + "\n";
  std::vector<int> to;
  text += Matcher(program, naive, logged).match(to);
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

std::string judge_children(const Program& program, const MappingRule& mapping,
                           const GraphRecorder& logged, const std::vector<Resolved>& statements) {
  for (const Resolved& r : statements)
    for (std::size_t rank = 0; rank < r.points.size(); ++rank) {
      const PointTask& parent = r.points[rank];
      if (parent.children.empty()) continue;
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

}  // namespace refrain::test
