#include "support/generate_parts.hpp"

#include <algorithm>
#include <numeric>

namespace refrain::test {

namespace {

std::vector<Point<3>> box_points(const Point<3>& lo, const Point<3>& size) {
  std::vector<Point<3>> points;
  for (Coord a = 0; a < size[0]; ++a)
    for (Coord b = 0; b < size[1]; ++b)
      for (Coord c = 0; c < size[2]; ++c) points.push_back({lo[0] + a, lo[1] + b, lo[2] + c});
  return points;
}

bool same_colours(const ResolvedPartition& partition, const DomainSpec& domain) {
  return partition.colour_dim == domain.dim &&
         std::all_of(domain.points.begin(), domain.points.end(),
                     [&](const Point<3>& p) { return partition.find(p) >= 0; });
}

}  // namespace

Shape random_shape(Random& random, int max_dim, bool pointers) {
  Shape shape;
  shape.dim = random.between(1, max_dim);
  Point<3> lo{}, size{1, 1, 1};
  for (int d = 0; d < shape.dim; ++d) {
    lo[d] = random.between(-2, 3);
    size[d] = shape.dim == 1 ? random.between(1, random.percent(10) ? 64 : 16)
                             : random.between(1, shape.dim == 2 ? 5 : 3);
  }
  shape.points = box_points(lo, size);
  if (random.percent(30)) {
    const int keep = random.between(40, 90);
    const Point<3> first = shape.points.front();
    std::erase_if(shape.points,
                  [&](const Point<3>& p) { return p != first && !random.percent(keep); });
  }
  for (int n = random.between(1, random.percent(50) ? 2 : max_fields); n > 0; --n)
    shape.fields.push_back(
        pointers && random.percent(45)
            ? (random.percent(25) ? ValueKind::p32 : pointer_kind(random.between(1, max_dim)))
            : static_cast<ValueKind>(random.percent(40) ? 0 : random.below(number_kinds)));
  return shape;
}

void fill_partition(Random& random, const Shape& shape, PartitionSpec& spec) {
  const int dice = random.below(10);
  spec.numbers = {1, 1, 1};
  if (dice < 5) {
    spec.op = PartitionSpec::Op::blocks;
    for (int d = 0; d < shape.dim; ++d)
      spec.numbers[d] = random.between(1, shape.dim == 1 ? 6 : shape.dim == 2 ? 3 : 2);
  } else if (dice < 7) {
    spec.op = PartitionSpec::Op::restriction;
    spec.colour_dim = random.between(1, 2);
    for (int d = 0; d < spec.colour_dim; ++d) spec.numbers[d] = random.between(1, 3);
    for (int d = 0; d < shape.dim; ++d) {
      spec.scale[d] = random.between(0, 4);
      spec.offset[d] = random.between(-3, 3);
      spec.extent[d] = random.between(1, 6);
    }
  } else {
    spec.op = PartitionSpec::Op::pieces;
    const bool disjoint = random.percent(50);
    spec.pieces.resize(static_cast<std::size_t>(random.between(1, 5)));
    for (std::size_t i = 0; i < shape.points.size(); ++i) {
      const auto owner =
          static_cast<std::size_t>(random.below(static_cast<int>(spec.pieces.size())));
      for (std::size_t c = 0; c < spec.pieces.size(); ++c)
        if (disjoint ? c == owner : random.percent(35)) spec.pieces[c] |= Mask{1} << i;
    }
  }
}

DomainSpec random_domain(Random& random, const ResolvedPartition* like) {
  DomainSpec domain;
  domain.group = true;
  if (like != nullptr && random.percent(75)) {
    domain.dim = like->colour_dim;
    domain.points = box_points({}, like->colours);
  } else {
    domain.dim = random.between(1, 3);
    Point<3> lo{}, size{1, 1, 1};
    for (int d = 0; d < domain.dim; ++d) {
      lo[d] = random.between(0, 2);
      size[d] = random.between(1, domain.dim == 1 ? 6 : 2);
    }
    domain.points = box_points(lo, size);
  }
  if (random.percent(20) && domain.points.size() > 2) {
    std::erase_if(domain.points, [&](const Point<3>&) { return random.percent(35); });
    domain.dense = false;
  }
  if (domain.points.empty()) domain = {true, 1, true, {Point<3>{}}};
  return domain;
}

ProjectionSpec random_projection(Random& random, const ResolvedPartition& partition,
                                 const DomainSpec& domain) {
  ProjectionSpec projection;
  const int dice = random.below(10);
  if (same_colours(partition, domain)) {
    if (dice < 6) return projection;
    if (dice < 8) {  // backwards
      projection.kind = ProjectionSpec::Kind::affine;
      for (int d = 0; d < 3; ++d) {
        projection.scale[d] = -1;
        projection.offset[d] = partition.colours[d] - 1;
      }
      return projection;
    }
  }
  const auto total = static_cast<int>(partition.pieces.size());
  int stride = random.between(0, 5);
  if (random.percent(80))
    while (std::gcd(stride, total) != 1) ++stride;
  projection.kind = ProjectionSpec::Kind::function;
  projection.key = spread_key(partition.colours, stride, random.between(0, 3));
  return projection;
}

void random_privilege(Random& random, bool reductions, RequirementSpec& requirement) {
  const int dice = random.below(reductions ? 100 : 80);
  requirement.privilege = dice < 30   ? Privilege::read
                          : dice < 45 ? Privilege::write
                          : dice < 80 ? Privilege::read_write
                                      : Privilege::reduce;
  requirement.op = static_cast<OpKind>(random.percent(60) ? 0 : random.below(op_kinds));
  requirement.relaxed = random.percent(60);
}

std::vector<Statement> random_children(Random& random, const std::vector<ChildArgument>& arguments,
                                       int tasks, int depth) {
  std::vector<Statement> children;
  int next_partition = 0;
  for (int n = random.between(1, 3); n > 0; --n) {
    const int a = random.below(static_cast<int>(arguments.size()));
    const ChildArgument& argument = arguments[static_cast<std::size_t>(a)];
    Statement s;
    s.kind = Statement::Kind::partition;
    s.id = next_partition++;
    s.partition.parent.root = a;
    fill_partition(random, *argument.shape, s.partition);
    const Point<3> colours = s.partition.op == PartitionSpec::Op::pieces
                                 ? Point<3>{static_cast<Coord>(s.partition.pieces.size()), 1, 1}
                                 : s.partition.numbers;
    children.push_back(s);
    for (int launches = random.between(1, 2); launches > 0; --launches) {
      Statement l;
      l.kind = Statement::Kind::launch;
      l.launch.task = random.below(tasks);
      l.launch.bare = random.percent(25);
      if (!l.launch.bare) l.launch.salt = random.next();
      RequirementSpec q;
      q.field = argument.field;
      random_privilege(random, true, q);
      if (!writes(argument.privilege)) q.privilege = argument.privilege;
      if (argument.privilege == Privilege::reduce) q.op = argument.op;
      if (random.percent(70)) {
        l.launch.domain = {true, 1, true,
                           box_points({}, {colours[0] * colours[1] * colours[2], 1, 1})};
        q.partitioned = true;
        q.partition = s.id;
        q.projection.kind = ProjectionSpec::Kind::function;
        q.projection.key = spread_key(colours, 1, random.below(2));
      } else {
        l.launch.domain = {false, 1, true, {Point<3>{}}};
        q.region.root = a;
        if (random.percent(50)) q.region.partition = s.id;
      }
      l.launch.requirements.push_back(q);
      if (depth < 1 && !l.launch.bare && random.percent(15))
        l.launch.children = random_children(random, {{argument.shape, q.field, q.privilege, q.op}},
                                            tasks, depth + 1);
      children.push_back(l);
    }
    if (random.percent(20)) children.emplace_back();  // a fence
  }
  return children;
}

void random_throws(Random& random, LaunchSpec& launch) {
  launch.throws_at = -1;
  if (!launch.bare && random.percent(12)) {
    launch.throws_at = random.below(static_cast<int>(launch.domain.points.size()));
    launch.throws_late = random.percent(50);
  }
  for (Statement& child : launch.children)
    if (child.kind == Statement::Kind::launch) random_throws(random, child.launch);
}

void Renaming::apply(Statement& s) {
  const auto rename = [](const std::map<int, int>& names, int& id) {
    if (const auto found = names.find(id); found != names.end()) id = found->second;
  };
  const auto make = [](std::map<int, int>& names, int& id, int* next) {
    id = names[id] = (*next)++;
  };
  const auto region = [&](RegionRef& ref) {
    rename(regions, ref.root);
    rename(partitions, ref.partition);
  };
  using Kind = Statement::Kind;
  region(s.partition.parent);
  rename(partitions, s.partition.a);
  rename(partitions, s.partition.b);
  for (RequirementSpec* q : {&s.source, &s.target}) region(q->region);
  rename(partitions, s.target.partition);
  for (RequirementSpec& q : s.launch.requirements) {
    region(q.region);
    rename(partitions, q.partition);
  }
  for (int& f : s.launch.futures) rename(futures, f);
  rename(futures, s.future);
  if (s.launch.future >= 0) make(futures, s.launch.future, next_future);
  switch (s.kind) {
    case Kind::create: make(regions, s.id, next_region); break;
    case Kind::partition: make(partitions, s.id, next_partition); break;
    case Kind::reduce: make(futures, s.id, next_future); break;
    case Kind::attach: make(attachments, s.id, next_attachment); break;
    case Kind::detach: rename(attachments, s.id); break;
    case Kind::destroy_region: rename(regions, s.id); break;
    case Kind::destroy_partition: rename(partitions, s.id); break;
    default: break;
  }
}

}  // namespace refrain::test
