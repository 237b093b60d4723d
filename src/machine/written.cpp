// Machines as text: the JSON form that parse_json reads back, what ranks have in common, and the table for people.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ranges>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "machine/machine.hpp"

namespace refrain::machine {

namespace {

// What of a list belongs to the first rank.
constexpr auto first_rank = std::views::filter([](const auto& one) { return one.rank == 0; });
auto links_of_first_rank(const Machine& machine) {
  return machine.links() | std::views::filter([&machine](const Link& link) {
           return machine.memory(link.from).rank == 0;
         });
}

}  // namespace

std::string to_json(const Machine& machine) {
  using Json = nlohmann::ordered_json;
  const auto name_of = [&](MemoryId id) { return machine.memory(id).name; };
  // Quantities are written for people where that loses nothing, else as plain numbers.
  const auto quantity = [](double value, auto* write, auto* parse) {
    const std::string text = write(value);
    return parse(text) == value ? Json(text) : Json(value);
  };
  const auto bandwidth = [&](double value) {
    return quantity(value, short_bandwidth, parse_bandwidth);
  };
  const auto duration = [&](double value) {
    return quantity(value, short_duration, parse_duration);
  };
  Json root{{"name", machine.name()}};
  if (machine.ranks() > 1) root["nodes"] = machine.ranks();
  if (const auto& network = machine.network())
    root["network"] = {{"bandwidth", bandwidth(network->bandwidth)},
                       {"latency", duration(network->latency)}};
  const Overheads& overheads = machine.overheads();
  root["overheads"] = {{"analyse", duration(overheads.analyse)},
                       {"replay", duration(overheads.replay)},
                       {"run", duration(overheads.run)},
                       {"wake", duration(overheads.wake)}};
  for (const Memory& m : machine.memories() | first_rank) {
    Json& object = root["memories"].emplace_back(
        Json{{"name", m.name}, {"kind", to_string(m.kind)}, {"capacity", exact_size(m.capacity)}});
    if (m.numa >= 0) object["numa"] = m.numa;
  }
  for (const Processor& p : machine.processors() | first_rank) {
    if (p.kind == ProcessorKind::gang) continue;
    Json& object = root["processors"].emplace_back(
        Json{{"name", p.name}, {"kind", to_string(p.kind)}, {"numa", p.numa}});
    std::ranges::transform(p.memories, std::back_inserter(object["memories"] = Json::array()),
                           name_of);
    if (!p.bandwidths.empty())
      std::ranges::transform(p.bandwidths, std::back_inserter(object["bandwidths"] = Json::array()),
                             bandwidth);
    if (p.flops > 0) object["flops"] = quantity(p.flops, short_flops, parse_flops);
    if (p.launch_seconds > 0) object["launch"] = duration(p.launch_seconds);
    if (!p.cpus.empty()) object["cpus"] = p.cpus;
    if (p.emulated) object["emulated"] = true;
  }
  root["links"] = Json::array();
  for (const Link& link : links_of_first_rank(machine))
    root["links"].push_back({{"from", name_of(link.from)},
                             {"to", name_of(link.to)},
                             {"bandwidth", bandwidth(link.bandwidth)},
                             {"latency", duration(link.latency)}});
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string in_ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0, last = 0; i < numbers.size(); i = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

namespace {

// Every column is as wide as its widest cell, with two blanks between. A column whose cells are all empty is left out.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows | std::views::drop(1))
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  for (std::size_t c = 0; c < width.size(); ++c)
    if (width[c] > 0) width[c] = std::max(width[c], rows.front()[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c)
      if (width[c] > 0) line += fmt::format(" {:<{}} ", row[c], width[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string runs_on(const Processor& processor) {
  if (traits_of(processor.kind).is_device) return processor.emulated ? "a worker thread" : "device";
  if (processor.cpus.empty()) return "not bound";
  return "hardware thread" + std::string(processor.cpus.size() > 1 ? "s " : " ") +
         in_ranges(processor.cpus);
}

}  // namespace

std::string to_outline(const Machine& machine, std::string_view description) {
  std::string text = fmt::format(
      "cores: {}, GPUs: {}, NUMA domains: {}", machine.processors(ProcessorKind::cpu).size(),
      machine.processors(ProcessorKind::gpu).size(), machine.memories(MemoryKind::system).size());
  // Which cores are where: the gangs' members.
  const auto gangs = machine.processors(ProcessorKind::gang);
  for (std::size_t i = 0; i < gangs.size() && gangs.size() > 1; ++i) {
    const Processor& gang = machine.processor(gangs[i]);
    text += fmt::format("{}{}", i == 0 ? " of cores " : " | ",
                        in_ranges({gang.members.begin(), gang.members.end()}));
  }
  if (!description.empty() && !is_short_form(description)) {
    const std::string all = to_json(machine);
    text += fmt::format(", description {:016x}", hash_bytes(all.data(), all.size()));
  }
  return text;
}

std::string to_table(const Machine& machine) {
  std::string text = fmt::format("machine: {}\n", machine.name());
  if (machine.ranks() > 1)
    text += fmt::format("nodes: {}, each with what follows\n", machine.ranks());
  if (const auto& network = machine.network())
    text += fmt::format("network: {} per node and direction, {} between nodes\n",
                        short_bandwidth(network->bandwidth), short_duration(network->latency));
  const Overheads& overheads = machine.overheads();
  text += fmt::format(
      "overheads per operation (nominal unless described): {} analysed, {} replayed, {} run; {} to "
      "wake a thread\n",
      short_duration(overheads.analyse), short_duration(overheads.replay),
      short_duration(overheads.run), short_duration(overheads.wake));
  std::vector<std::vector<std::string>> processors{
      {"id", "name", "kind", "numa", "runs on", "computes", "launch", "reaches (best first)"}};
  for (const Processor& p : machine.processors() | first_rank) {
    std::string reached;
    for (std::size_t i = 0; i < p.memories.size(); ++i) {
      reached += (i == 0 ? "" : ", ") + machine.memory(p.memories[i]).name;
      if (!p.bandwidths.empty()) reached += " at " + short_bandwidth(p.bandwidths[i]);
    }
    processors.push_back({std::to_string(p.id), p.name,
                          fmt::format("{}{}", to_string(p.kind), p.emulated ? " (emulated)" : ""),
                          std::to_string(p.numa), runs_on(p),
                          p.flops > 0 ? short_flops(p.flops) : "",
                          p.launch_seconds > 0 ? short_duration(p.launch_seconds) : "", reached});
  }
  std::vector<std::vector<std::string>> memories{
      {"id", "name", "kind", "capacity", "numa", "belongs to"}};
  for (const Memory& m : machine.memories() | first_rank)
    memories.push_back({std::to_string(m.id), m.name, std::string(to_string(m.kind)),
                        short_size(m.capacity), m.numa < 0 ? "-" : std::to_string(m.numa),
                        m.owner ? machine.processor(*m.owner).name : "-"});
  std::vector<std::vector<std::string>> links{{"from", "to", "bandwidth", "latency"}};
  for (const Link& link : links_of_first_rank(machine))
    links.push_back({machine.memory(link.from).name, machine.memory(link.to).name,
                     short_bandwidth(link.bandwidth), short_duration(link.latency)});
  return text + fmt::format(
                    "\nprocessors\n{}\nmemories\n{}\nlinks (nominal unless a description gave "
                    "them)\n{}",
                    table(processors), table(memories), table(links));
}

}  // namespace refrain::machine
