// Captured programs for people.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "capture/captured_program.hpp"

namespace refrain::capture {

namespace {

std::string name_of(const Program& program, const Call& call) {
  if (call.kind == CallKind::launch) return program.tasks[call.task].name;
  return std::string(to_string(call.kind));
}

/// Where a place is, and how large: "region 0", "region 0, partition 2 (blocks)[3]".
std::string text_of(const Program& program, const Place& place) {
  if (place.partition == kNone) return fmt::format("region {}", place.region);
  const Partition& partition = program.partitions[place.partition];
  return fmt::format("region {}, {} {}[{}]", program.root(place), partition.kind, place.partition,
                     place.piece);
}

std::string text_of(const Program& program, const Argument& argument) {
  const Field& field = program.fields[argument.field];
  const double size = static_cast<double>(field.size);
  std::string where;
  double least = 0, most = 0;
  if (argument.partition == kNone) {
    where = text_of(program, argument.region);
    least = most = static_cast<double>(program.points(argument.region)->volume()) * size;
  } else {
    const Partition& partition = program.partitions[argument.partition];
    where = fmt::format("region {}, {} {}", program.root(partition.of), partition.kind,
                        argument.partition);
    least = std::numeric_limits<double>::max();
    for (const Number piece : partition.pieces) {
      const double bytes = static_cast<double>(program.spaces[piece]->volume()) * size;
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
    if (partition.pieces.empty()) least = 0;
  }
  const auto bytes = [](double number) { return short_size(static_cast<std::uint64_t>(number)); };
  return fmt::format("{:<10} {:<16} {}, {}", to_string(argument.privilege), field.name,
                     least == most ? bytes(most) : bytes(least) + " to " + bytes(most), where);
}

std::string text_of(const Costs& costs) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(costs.size(), kShown); ++i)
    text += fmt::format("{}{} (+-{}) for {}, {} times", i == 0 ? "" : "; ",
                        short_duration(costs[i].mean), short_duration(std::sqrt(costs[i].variance)),
                        short_size(costs[i].bytes), grouped(costs[i].count));
  if (costs.size() > kShown) text += fmt::format("; {} volumes more", costs.size() - kShown);
  return text;
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text = fmt::format(
      "program {}: {} calls of {} kinds, {} tasks, {} regions, {} partitions, {} index spaces\n",
      program.name, grouped(program.stream.length(0)), program.calls.size(), program.tasks.size(),
      program.regions.size(), program.partitions.size(), program.spaces.size());
  for (Number task = 0; task < program.tasks.size(); ++task) {
    const Task& each = program.tasks[task];
    std::string kinds;
    for (const ProcessorKind kind : each.variants)
      kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(kind));
    text += fmt::format("\ntask {} ({}){}\n", each.name, kinds,
                        each.launches ? ", which launches others" : "");
    for (int kind = 0; kind < processor_kinds; ++kind)
      if (const Costs& costs = each.costs[static_cast<std::size_t>(kind)]; !costs.empty())
        text += fmt::format("  on a {}: {}\n", to_string(static_cast<ProcessorKind>(kind)),
                            text_of(costs));
    const auto launch = std::ranges::find_if(program.calls, [&](const Call& call) {
      return call.kind == CallKind::launch && call.task == task;
    });
    if (launch == program.calls.end()) continue;
    text += launch->domain == kNone
                ? std::string("  one point")
                : fmt::format("  {} points", grouped(program.spaces[launch->domain]->volume()));
    text += fmt::format(", launched at {}:{}\n", launch->file, launch->line);
    for (const Argument& argument : launch->arguments)
      text += "    " + text_of(program, argument) + "\n";
  }
  return text + "\nstream\n" + program.stream.text([&](std::uint32_t event) {
    return name_of(program, program.calls[event]);
  });
}

}  // namespace refrain::capture
