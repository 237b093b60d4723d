#include "support/generate.hpp"

#include <algorithm>
#include <utility>

#include "support/generate_parts.hpp"
#include "support/interpreter.hpp"

namespace refrain::test {

GenerateOptions options_for(std::uint64_t seed) {
  Random random(mix(seed, 77));
  GenerateOptions options;
  options.statements = random.percent(15) ? random.between(25, 50) : random.between(3, 20);
  options.nested = random.percent(35);
  options.futures = random.percent(60);
  options.reductions = random.percent(75);
  options.destroy = random.percent(50);
  options.by_data = random.percent(35);
  options.attach = random.percent(45);
  options.failures = random.percent(30);
  options.max_dim = random.between(1, 3);
  options.traces = random.percent(70);
  return options;
}

namespace {

using Kind = Statement::Kind;
using Op = PartitionSpec::Op;

class Generator {
  static constexpr int kNoRegion = -1;

 public:
  Generator(std::uint64_t seed, const GenerateOptions& options)
      : options_(options),
        random_(seed),
        world_(
            plan_, [this](int t, int f, int i) { return interpreter_.pointed_at(t, f, i); },
            [this](const ResolvedArgument& a) {
              return static_cast<bool>(interpreter_.poison(a));
            }),
        interpreter_(plan_.shapes, plan_.tasks) {
    plan_.seed = seed;
    const int shapes = random_.between(1, 3);
    for (int i = 0; i < shapes; ++i)
      plan_.shapes.push_back(random_shape(random_, options.max_dim, options.by_data));
    for (int i = 0; i < 6; ++i)
      plan_.tasks.push_back({random_.percent(60),
                             random_.percent(60) ? ValueKind::f64 : ValueKind::i64,
                             random_.percent(60)});
  }

  Plan make() {
    create();
    if (random_.percent(50)) create();
    partition();
    while (static_cast<int>(plan_.statements.size()) < options_.statements) step(true);
    return std::move(plan_);
  }

 private:
  bool emit(Statement s) {
    Resolved resolved;
    if (!world_.apply(s, resolved)) return false;
    interpreter_.execute(resolved);
    plan_.statements.push_back(std::move(resolved.spec));
    return true;
  }

  void step(bool loops) {
    const int dice = random_.below(100);
    if (world_.regions().empty()) create();
    else if (dice < 14) partition();
    else if (dice < 34) launch(false);
    else if (dice < 64) launch(true);
    else if (dice < 71) fill();
    else if (dice < 76) copy();
    else if (dice < 80) access();
    else if (dice < 82) get();
    else if (dice < 83) emit({});  // a fence
    else if (dice < 84) remap();
    else if (dice < 88) maybe_attach();
    else if (dice < 92) destroy();
    else if (loops && options_.traces && options_.destroy && random_.percent(40))
      make_and_destroy();
    else if (loops && options_.traces && random_.percent(20)) take_turns();
    else if (loops) loop();
  }

  RegionRef some_region() {
    RegionRef ref;
    std::vector<int> live = live_partitions();
    if (!live.empty() && random_.percent(65)) {
      ref.partition = random_.pick(live);
      const auto& is = world_.partitions().at(ref.partition).is;
      ref.colour = random_.below(static_cast<int>(is.pieces.size()));
      return ref;
    }
    if (world_.regions().contains(temporary_) && random_.percent(60)) {
      ref.root = temporary_;
      return ref;
    }
    auto at = world_.regions().begin();
    std::advance(at, random_.below(static_cast<int>(world_.regions().size())));
    ref.root = at->first;
    return ref;
  }
  int tree_of(const RegionRef& ref) const {
    int tree = 0;
    Mask points = 0;
    world_.find(ref, tree, points);
    return tree;
  }
  std::vector<int> live_partitions() const {
    std::vector<int> live;
    for (const auto& [id, p] : world_.partitions())
      if (p.alive) live.push_back(id);
    return live;
  }
  int some_field(int tree) {
    return random_.below(static_cast<int>(world_.shape(tree).fields.size()));
  }
  /// A living future (or future map), or -1.
  int some_future(bool map) {
    std::vector<int> found;
    for (const auto& [id, f] : world_.futures())
      if (f.map == map) found.push_back(id);
    return found.empty() ? -1 : random_.pick(found);
  }

  void create() {
    if (world_.regions().size() >= 4) return;
    Statement s;
    s.kind = Kind::create;
    s.id = next_region_++;
    s.shape = random_.below(static_cast<int>(plan_.shapes.size()));
    emit(s);
  }

  void partition() {
    const std::vector<int> live = live_partitions();
    if (live.size() >= 9) return;
    Statement s;
    s.kind = Kind::partition;
    s.id = next_partition_++;
    PartitionSpec& p = s.partition;
    if (options_.by_data && random_.percent(45) && partition_by_data(s, live)) return;
    if (!live.empty() && random_.percent(45)) {
      p.op =
          static_cast<Op>(random_.percent(60) ? random_.between(int(Op::halo), int(Op::interior))
                                              : random_.between(int(Op::unite), int(Op::subtract)));
      p.a = random_.pick(live);
      if (p.op >= Op::unite) p.b = random_.pick(live);
      for (int d = 0; d < 3; ++d) p.numbers[d] = random_.between(0, 2);
    } else {
      p.parent = some_region();
      fill_partition(random_, world_.shape(tree_of(p.parent)), p);
    }
    emit(s);
  }

  /// By the colours in a field, or by image or preimage through one; of fields that point, if there are.
  bool partition_by_data(Statement s, const std::vector<int>& live) {
    PartitionSpec& p = s.partition;
    for (int tries = 0; tries < 12; ++tries) {
      p.op = static_cast<Op>(live.empty() ? int(Op::by_colour)
                                          : random_.between(int(Op::by_colour), int(Op::preimage)));
      p.parent = some_region();
      p.a = p.op == Op::by_colour ? -1 : random_.pick(live);
      const int from = p.op == Op::image ? world_.partitions().at(p.a).is.tree : tree_of(p.parent);
      p.field = some_field(from);
      const int dim = pointer_dim(world_.shape(from).fields[static_cast<std::size_t>(p.field)]);
      for (int d = 0; d < 3; ++d) p.numbers[d] = random_.between(1, dim == 1 ? 6 : 2);
      if (dim == 0) continue;
      if (random_.percent(40)) write_some(p.op == Op::image ? p.a : -1, p.parent, p.field);
      if (emit(s)) return true;
    }
    return false;
  }

  /// An access that writes: to a region, or to a piece of the partition where there is one.
  void write_some(int partition, const RegionRef& region, int field) {
    Statement s;
    s.kind = Kind::access;
    s.target.region = partition < 0 ? region : RegionRef{0, partition, 0};
    s.target.field = field;
    s.target.privilege = Privilege::write;
    s.salt = random_.next();
    emit(s);
  }

  RequirementSpec requirement(const DomainSpec& domain) {
    RequirementSpec q;
    const std::vector<int> live = live_partitions();
    q.partitioned = domain.group && !live.empty() && random_.percent(85);
    if (q.partitioned) {
      q.partition = random_.pick(live);
      const ResolvedPartition& is = world_.partitions().at(q.partition).is;
      q.projection = random_projection(random_, is, domain);
      q.field = some_field(is.tree);
    } else {
      q.region = some_region();
      q.field = some_field(tree_of(q.region));
    }
    random_privilege(random_, options_.reductions, q);
    return q;
  }

  void launch(bool group) {
    Statement s;
    s.kind = Kind::launch;
    LaunchSpec& l = s.launch;
    l.task = random_.below(static_cast<int>(plan_.tasks.size()));
    l.domain = {group, 1, true, {Point<3>{}}};
    if (group) {
      const std::vector<int> live = live_partitions();
      l.domain = random_domain(
          random_, live.empty() ? nullptr : &world_.partitions().at(random_.pick(live)).is);
    }
    for (int n = random_.between(1, 4); n > 0; --n) l.requirements.push_back(requirement(l.domain));
    finish_launch(l);
    const bool emitted = emit(s);
    if (emitted && group && l.future >= 0 && random_.percent(60)) reduce(l.future);
  }

  void finish_launch(LaunchSpec& l) {
    l.bare = random_.percent(30);
    if (!l.bare) l.salt = random_.next();
    if (random_.percent(15)) l.priority = random_.between(-3, 3);
    l.inline_if_ready = random_.percent(10);
    if (!l.bare) give_children(l);
    if (!options_.futures) return;
    for (int n = l.bare ? 0 : random_.below(3); n > 0; --n)
      if (const int f = some_future(false); f >= 0) l.futures.push_back(f);
    const bool returns = plan_.tasks[static_cast<std::size_t>(l.task)].returns;
    if (returns && random_.percent(l.bare ? 20 : 70)) l.future = next_future_++;
  }

  /// Children, and exceptions.
  void give_children(LaunchSpec& l) {
    if (options_.nested && random_.percent(40)) {
      std::vector<ChildArgument> arguments;
      for (const RequirementSpec& q : l.requirements) {
        const int tree =
            q.partitioned ? world_.partitions().at(q.partition).is.tree : tree_of(q.region);
        arguments.push_back({&world_.shape(tree), q.field, q.privilege, q.op});
      }
      l.children = random_children(random_, arguments, static_cast<int>(plan_.tasks.size()), 0);
      if (options_.traces && random_.percent(40)) repeat_in_trace(l.children);
    }
    if (options_.failures) random_throws(random_, l);
  }

  /// Children that are launched again and again, mostly all of them.
  void repeat_in_trace(std::vector<Statement>& children) {
    std::vector<Statement> body;
    for (const Statement& s : children)
      if (s.kind == Kind::launch || (s.kind == Kind::fence && random_.percent(50)))
        body.push_back(s);
    Statement marks[2];
    marks[0].kind = Kind::begin_trace;
    marks[1].kind = Kind::end_trace;
    marks[0].id = marks[1].id = random_.below(3);
    for (int n = random_.between(2, 4); n > 0; --n) {
      children.push_back(marks[0]);
      const std::size_t until =
          random_.percent(20)
              ? static_cast<std::size_t>(random_.below(static_cast<int>(body.size()) + 1))
              : body.size();
      for (std::size_t i = 0; i < until; ++i) {
        children.push_back(body[i]);
        if (!body[i].launch.bare) children.back().launch.salt = random_.next();
      }
      children.push_back(marks[1]);
    }
  }

  void reduce(int map) {
    Statement s;
    s.kind = Kind::reduce;
    s.future = map;
    s.op = static_cast<OpKind>(random_.below(op_kinds));
    s.id = next_future_++;
    emit(s);
  }

  void fill() {
    Statement s;
    s.kind = Kind::fill;
    s.target.region = some_region();
    s.target.field = some_field(tree_of(s.target.region));
    s.target.privilege = Privilege::write;
    s.salt = random_.next();
    if (random_.percent(30)) {
      s.kind = Kind::fill_future;
      s.future = some_future(false);
    }
    emit(s);
  }

  void copy() {
    for (int tries = 0; tries < 8; ++tries) {
      Statement s;
      s.kind = Kind::copy;
      s.source.region = some_region();
      s.target.region = random_.percent(30) ? s.source.region : some_region();
      s.source.field = some_field(tree_of(s.source.region));
      s.target.field = some_field(tree_of(s.target.region));
      s.target.privilege = Privilege::write;
      if (emit(s)) return;
    }
  }

  void access() {
    Statement s;
    s.kind = Kind::access;
    s.target.region = some_region();
    s.target.field = some_field(tree_of(s.target.region));
    const int dice = random_.below(10);
    s.target.privilege = dice < 5   ? Privilege::read
                         : dice < 8 ? Privilege::read_write
                                    : Privilege::write;
    s.salt = random_.next();
    emit(s);
  }

  void maybe_attach() {
    if (!options_.attach || random_.percent(15)) create();
    else attach();
  }

  /// What is gone with the memory must be written before it is read again, so mostly a fill follows.
  void detach(int id, const World::Attachment& attachment) {
    Statement s;
    s.kind = Kind::detach;
    s.id = id;
    Statement again;
    again.kind = Kind::fill;
    again.target.region = attachment.region;
    again.target.field = attachment.is.field;
    again.target.privilege = Privilege::write;
    again.salt = random_.next();
    emit(s);
    if (random_.percent(80)) emit(again);
  }

  /// Memory of the program's own, or the end of some.
  void attach() {
    const auto& all = world_.attachments();
    if (!all.empty() && random_.percent(60)) {
      const auto [id, attachment] =
          *std::next(all.begin(), random_.below(static_cast<int>(all.size())));
      return detach(id, attachment);
    }
    Statement s;
    s.kind = Kind::attach;
    s.id = next_attachment_++;
    std::vector<int> live = live_partitions();
    std::erase_if(live, [&](int p) { return !is_disjoint(world_.partitions().at(p).is); });
    if (!live.empty() && random_.percent(50)) {
      s.target.partitioned = true;
      s.target.partition = random_.pick(live);
      s.target.field = some_field(world_.partitions().at(s.target.partition).is.tree);
    } else {
      s.target.region = some_region();
      s.target.field = some_field(tree_of(s.target.region));
    }
    s.target.field -= s.target.field % 2;  // the others may be compact (mapping_rule.cpp)
    s.memory.fortran = random_.percent(50);
    for (int d = 0; d < 3; ++d) s.memory.padding[d] = std::max(0, random_.between(-2, 2));
    s.salt = random_.next();
    emit(s);
    if (!all.contains(s.id) || random_.percent(60)) return;
    launch(true);
    const auto made = all.find(s.id);
    if (made != all.end()) detach(s.id, World::Attachment(made->second));
  }

  void get() {
    Statement s;
    s.kind = Kind::get;
    s.future = some_future(random_.percent(30));
    emit(s);
  }

  /// What no recording has.
  void give_up_or_take() {
    if (random_.percent(35)) destroy();
    else maybe_attach();
  }

  void wait() {
    if (random_.percent(50)) get();
    else emit({});  // a fence
  }

  void destroy() {
    if (!options_.destroy) return;
    Statement s;
    const std::vector<int> live = live_partitions();
    if (!live.empty() && random_.percent(60)) {
      s.kind = Kind::destroy_partition;
      s.id = random_.pick(live);
    } else {
      s.kind = Kind::destroy_region;
      auto at = world_.regions().begin();
      std::advance(at, random_.below(static_cast<int>(world_.regions().size())));
      s.id = at->first;
    }
    emit(s);
  }

  /// A few statements, then the same again and again with small changes. Things made inside get fresh
  /// numbers each time; temporaries are destroyed at the end of each round.
  void loop(bool may_nest = true, bool in_trace = false) {
    const bool nest = may_nest && random_.percent(25);
    const bool traced = options_.traces && !in_trace && random_.percent(nest ? 25 : 75);
    const int trace = random_.percent(60) ? next_trace_++ : random_.below(next_trace_ + 1);
    const std::size_t begin = plan_.statements.size();
    const int first_region = next_region_;
    if (traced) mark(Kind::begin_trace, trace);
    const bool temporaries = options_.destroy && random_.percent(traced ? 30 : 40);
    if (temporaries) {
      create();
      partition();
    }
    const int first_partition = next_partition_;
    const bool passing = options_.destroy && traced && random_.percent(30);
    if (passing && !world_.regions().empty()) partition();
    for (int n = random_.between(1, 4); n > 0; --n) repeatable(traced);
    for (int n = nest ? random_.between(1, 2) : 0; n > 0; --n) loop(false, traced);
    if (passing && world_.partitions().contains(first_partition)) {
      Statement s;
      s.kind = Kind::destroy_partition;
      s.id = first_partition;
      emit(s);
    }
    if (temporaries && world_.regions().contains(first_region)) {
      Statement s;
      s.kind = Kind::destroy_region;
      s.id = first_region;
      emit(s);
    }
    if (traced) mark(Kind::end_trace, trace);
    const std::vector<Statement> body(plan_.statements.begin() + static_cast<std::ptrdiff_t>(begin),
                                      plan_.statements.end());
    const int calm = traced && random_.percent(50) ? 0 : 1;  // nothing changes ...
    const bool new_values = random_.percent(60);             // ... but these
    const bool moves = traced && random_.percent(30);        // ... and what comes in between
    for (int n = rounds(traced, body.size()); n > 0; --n) {
      if (moves) in_between();
      Renaming names{
          {}, {}, {}, {}, &next_region_, &next_partition_, &next_future_, &next_attachment_};
      // Left early now and then.
      const std::size_t until =
          traced && random_.percent(20)
              ? static_cast<std::size_t>(random_.below(static_cast<int>(body.size())))
              : body.size();
      if (traced && random_.percent(10 * calm)) step(false);
      for (std::size_t i = 0; i < body.size(); ++i) {
        Statement s = body[i];
        if (i >= until && s.kind != Kind::begin_trace && s.kind != Kind::end_trace) continue;
        names.apply(s);
        if (new_values) give_new_values(s);
        if (random_.percent(10 * calm)) vary(s);
        if (random_.percent(4 * calm)) step(false);
        emit(s);
      }
    }
  }

  /// Several short traces, one after the other, round after round. Now and then one ends early, or is left out, or
  /// comes twice, or something is in between.
  void take_turns() {
    std::vector<std::vector<Statement>> turns;
    for (int n = random_.between(2, 3); n > 0; --n) {
      const std::size_t begin = plan_.statements.size();
      const int trace = turns.empty() || random_.percent(80) ? next_trace_++ : next_trace_ - 1;
      mark(Kind::begin_trace, trace);
      for (int calls = random_.between(1, 2); calls > 0; --calls) repeatable(true);
      mark(Kind::end_trace, trace);
      turns.emplace_back(plan_.statements.begin() + static_cast<std::ptrdiff_t>(begin),
                         plan_.statements.end());
    }
    const int odd = random_.percent(40) ? 0 : 8;
    for (int n = random_.between(4, 7); n > 0; --n)
      for (const std::vector<Statement>& turn : turns) {
        if (random_.percent(odd)) step(false);
        if (random_.percent(odd)) continue;
        for (int times = random_.percent(odd) ? 2 : 1; times > 0; --times)
          repeat(turn, random_.percent(odd) ? 2 : turn.size(), odd / 2);
      }
  }

  /// A trace that works on a region of its own and destroys it, round after round. Now and then the region is made
  /// before the trace, or a round ends early, or something is in between.
  void make_and_destroy() {
    if (world_.regions().size() >= 4) return;
    const std::size_t begin = plan_.statements.size();
    const int trace = next_trace_++;
    const bool in_trace = random_.percent(70);
    if (in_trace) mark(Kind::begin_trace, trace);
    temporary_ = next_region_;
    create();
    if (random_.percent(50)) partition();
    if (!in_trace) {
      launch(false);
      mark(Kind::begin_trace, trace);
    }
    for (int calls = random_.between(1, 4); calls > 0; --calls)
      if (random_.percent(15)) fill();
      else if (random_.percent(15)) copy();
      else launch(random_.percent(50));
    Statement end;
    end.kind = Kind::destroy_region;
    end.id = std::exchange(temporary_, kNoRegion);
    emit(end);
    mark(Kind::end_trace, trace);
    const std::vector<Statement> round(
        plan_.statements.begin() + static_cast<std::ptrdiff_t>(begin), plan_.statements.end());
    const int odd = random_.percent(50) ? 0 : 8;
    for (int n = random_.between(4, 7); n > 0; --n) {
      if (random_.percent(odd)) step(false);
      repeat(round, random_.percent(odd) ? 3 : round.size(), odd / 2);
    }
  }

  /// The first statements of a trace, and its end. Now and then the mapper changes its mind in the middle.
  void repeat(const std::vector<Statement>& trace, std::size_t until, int changes) {
    Renaming names{
        {}, {}, {}, {}, &next_region_, &next_partition_, &next_future_, &next_attachment_};
    for (std::size_t i = 0; i < trace.size(); ++i) {
      Statement s = trace[i];
      if (i >= until && s.kind != Kind::begin_trace && s.kind != Kind::end_trace) continue;
      names.apply(s);
      give_new_values(s);
      if (i > 0 && random_.percent(changes)) remap();
      emit(s);
    }
  }

  int rounds(bool traced, std::size_t length) {
    if (length > 60) return 1;  // loops in loops
    return traced ? random_.between(2, 6) : random_.between(1, 3);
  }

  /// Data is moved, or will be.
  void in_between() {
    if (random_.percent(15)) remap();
    else if (world_.regions().empty() || random_.percent(50)) step(false);
    else launch(random_.percent(50));
  }

  /// The mapper changes its mind; of a task that has children it could at any time.
  void remap() {
    if (options_.nested) return;
    Statement s;
    s.kind = Kind::remap;
    emit(s);
  }

  void mark(Kind kind, int trace) {
    Statement s;
    s.kind = kind;
    s.id = trace;
    emit(s);
  }

  /// A statement for a loop; of a trace mostly what can be traced.
  void repeatable(bool traced) {
    const int dice = random_.below(10);
    if (!traced || world_.regions().empty()) return step(false);
    if (random_.percent(8)) wait();
    else if (random_.percent(8)) give_up_or_take();
    else if (dice < 2) step(false);
    else if (dice < 4) launch(false);
    else if (dice < 8) launch(true);
    else if (dice < 9) fill();
    else copy();
  }

  void give_new_values(Statement& s) {
    s.salt = random_.next();
    if (!s.launch.bare) s.launch.salt = random_.next();
  }

  void vary(Statement& s) {
    give_new_values(s);
    if (!s.launch.requirements.empty() && random_.percent(50)) {
      auto& q = s.launch.requirements[static_cast<std::size_t>(
          random_.below(static_cast<int>(s.launch.requirements.size())))];
      random_privilege(random_, options_.reductions, q);
    }
    if (s.kind != Kind::fill_future || random_.percent(50)) return;
    if (const int other = some_future(false); other >= 0) s.future = other;
  }

  GenerateOptions options_;
  Random random_;
  Plan plan_;
  World world_;
  Interpreter interpreter_;
  int next_region_ = 0, next_partition_ = 0, next_future_ = 0, next_attachment_ = 0;
  int next_trace_ = 0;
  int temporary_ = kNoRegion;  ///< the region that most of what is made now works on
};

}  // namespace

Plan generate(std::uint64_t seed, const GenerateOptions& options) {
  return Generator(seed, options).make();
}

}  // namespace refrain::test
