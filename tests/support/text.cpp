#include "support/text.hpp"

#include <fmt/format.h>

#include <array>

namespace refrain::test {

namespace {

using Kind = Statement::Kind;

std::string point_text(const Point<3>& p, int dim) {
  std::string text = fmt::format("{}", p[0]);
  for (int d = 1; d < dim; ++d) text += fmt::format(",{}", p[d]);
  return dim == 1 ? text : "(" + text + ")";
}

std::string argument_text(const ResolvedArgument& a) {
  const std::string privilege(to_string(a.privilege));
  const std::string op = a.privilege == Privilege::reduce
                             ? fmt::format(" {}{}", name_of(a.op), a.relaxed ? " relaxed" : "")
                             : "";
  return fmt::format("{}{} tree {}.f{} {}", privilege, op, a.tree, a.field, to_text(a.points));
}

std::string region_text(const RegionRef& ref) {
  return ref.partition < 0 ? fmt::format("region {}", ref.root)
                           : fmt::format("partition {}[#{}]", ref.partition, ref.colour);
}

std::string requirement_text(const RequirementSpec& q) {
  if (!q.partitioned) return region_text(q.region);
  switch (q.projection.kind) {
    case ProjectionSpec::Kind::identity: return fmt::format("partition {}", q.partition);
    case ProjectionSpec::Kind::affine: return fmt::format("partition {} backwards", q.partition);
    default: return fmt::format("partition {} spread({:#x})", q.partition, q.projection.key);
  }
}

std::string partition_text(const Program& program, const Resolved& r) {
  constexpr std::array names{"blocks", "halo",      "interior", "restriction",
                             "pieces", "by_colour", "image",    "preimage",
                             "unite",  "intersect", "subtract"};
  const PartitionSpec& spec = r.spec.partition;
  const Shape& shape = program.shape(r.partition.tree);
  std::string text =
      fmt::format("partition {} = {}(", r.spec.id, names[static_cast<std::size_t>(spec.op)]);
  if (spec.a < 0 || by_data(spec.op)) text += region_text(spec.parent);
  if (spec.a >= 0) text += fmt::format(" partition {}", spec.a);
  if (spec.b >= 0) text += fmt::format(", partition {}", spec.b);
  if (by_data(spec.op)) text += "; " + argument_text(r.source);
  text += fmt::format("; {}):", point_text(spec.numbers, 3));
  for (std::size_t c = 0; c < r.partition.pieces.size(); ++c)
    text += fmt::format(" {}:{}",
                        point_text(r.partition.colour(static_cast<int>(c)), r.partition.colour_dim),
                        to_text(r.partition.pieces[c]));
  return text + fmt::format("   of tree {} ({}-D)", r.partition.tree, shape.dim);
}

void add_launch(std::string& text, const Program& program, const Resolved& r, int indent);

void add_statement(std::string& text, const Program& program, const Resolved& r, int indent) {
  text.append(static_cast<std::size_t>(indent), ' ');
  const Statement& s = r.spec;
  switch (s.kind) {
    case Kind::create: {
      const Shape& shape = program.shapes[static_cast<std::size_t>(s.shape)];
      text += fmt::format("region {} = tree {}: {}-D, fields", s.id, r.tree, shape.dim);
      for (const ValueKind k : shape.fields) text += fmt::format(" {}", name_of(k));
      text += ", points";
      for (const Point<3>& p : shape.points) text += " " + point_text(p, shape.dim);
      break;
    }
    case Kind::partition: text += partition_text(program, r); break;
    case Kind::destroy_region:
      text += fmt::format("destroy region {} (tree {})", s.id, r.tree);
      break;
    case Kind::destroy_partition: text += fmt::format("destroy partition {}", s.id); break;
    case Kind::fill:
      text += fmt::format("fill {} with {:#x}", argument_text(r.target), s.salt);
      break;
    case Kind::fill_future:
      text += fmt::format("fill {} with future {}", argument_text(r.target), s.future);
      break;
    case Kind::launch: add_launch(text, program, r, indent); return;
    case Kind::reduce:
      text += fmt::format("future {} = reduce {} of futures {}", s.id, name_of(s.op), s.future);
      break;
    case Kind::copy:
      text += fmt::format("copy {} <- {}", argument_text(r.target), argument_text(r.source));
      break;
    case Kind::access: text += "access " + argument_text(r.target); break;
    case Kind::attach:
      text += fmt::format(
          "attachment {} = {}{}, {} order, padding {}", s.id, argument_text(r.target),
          s.target.partitioned ? fmt::format(" by the pieces of partition {}", s.target.partition)
                               : std::string(),
          s.memory.fortran ? "Fortran" : "C", point_text(s.memory.padding, 3));
      break;
    case Kind::detach: text += fmt::format("detach {} ({})", s.id, argument_text(r.target)); break;
    case Kind::get: text += fmt::format("get future {}", s.future); break;
    case Kind::fence: text += "fence"; break;
    case Kind::begin_trace: text += fmt::format("begin trace {}", s.id); break;
    case Kind::end_trace: text += fmt::format("end trace {}", s.id); break;
    case Kind::remap: text += "the mapper forgets"; break;
  }
  text += '\n';
}

void add_launch(std::string& text, const Program& program, const Resolved& r, int indent) {
  const LaunchSpec& l = r.spec.launch;
  if (l.future >= 0) text += fmt::format("future{} {} = ", l.domain.group ? "s" : "", l.future);
  text += fmt::format(
      "launch t{}{}", l.task,
      l.domain.group ? fmt::format(" group, {}-D{}", l.domain.dim, l.domain.dense ? "" : " sparse")
                     : "");
  for (const RequirementSpec& q : l.requirements) text += fmt::format(", {}", requirement_text(q));
  for (const int f : l.futures) text += fmt::format(", future {}", f);
  if (l.bare) text += ", bare";
  if (l.priority != 0) text += fmt::format(", priority {}", l.priority);
  text += l.inline_if_ready ? ", inline_if_ready\n" : "\n";
  for (const PointTask& t : r.points) {
    text.append(static_cast<std::size_t>(indent) + 4, ' ');
    text += point_text(t.point, l.domain.dim) + ":";
    for (const ResolvedArgument& a : t.arguments) text += "  " + argument_text(a);
    if (t.throws != PointTask::Throws::no)
      text += fmt::format("  throws {}{}", t.number,
                          t.throws == PointTask::Throws::late ? " after its children" : "");
    text += '\n';
    for (const Resolved& child : t.children) add_statement(text, program, child, indent + 8);
  }
}

}  // namespace

std::string to_text(Mask points) {
  std::string text;
  for (int i = 0; i < max_points; ++i) {
    if (!has(points, i)) continue;
    int last = i;
    while (last + 1 < max_points && has(points, last + 1)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : " ", i);
    if (last > i) text += fmt::format("-{}", last);
    i = last;
  }
  return "{" + text + "}";
}

std::string to_text(const Program& program, const Resolved& statement) {
  std::string text;
  add_statement(text, program, statement, 0);
  return text;
}

std::string to_text(const Program& program) {
  std::string text = fmt::format("program of seed {}\n", program.seed);
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    text += fmt::format("{:3} ", i);
    add_statement(text, program, program.statements[i], 0);
  }
  return text;
}

}  // namespace refrain::test
