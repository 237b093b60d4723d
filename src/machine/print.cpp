#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "machine/machine.hpp"

namespace refrain::machine {
namespace {

// Rows of cells; every column is as wide as its widest cell, with two blanks between.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> width(rows_.front().size(), 0);
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
    std::string text;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t c = 0; c < row.size(); ++c)
        line += fmt::format(" {:<{}} ", row[c], width[c]);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string runs_on(const Processor& processor) {
  if (processor.kind == ProcessorKind::gpu)
    return processor.emulated ? "a worker thread" : "device";
  if (processor.cpus.empty()) return "not bound";
  return "hardware thread" + std::string(processor.cpus.size() > 1 ? "s " : " ") +
         in_ranges(processor.cpus);
}

std::string names_of(const Machine& machine, const std::vector<MemoryId>& ids) {
  std::string text;
  for (MemoryId id : ids) text += (text.empty() ? "" : ", ") + machine.memory(id).name;
  return text;
}

// Quantities are written for people where that loses nothing, else as plain numbers.
nlohmann::ordered_json quantity(double value, const std::string& text, std::optional<double> back) {
  if (back == value) return text;
  return value;
}

nlohmann::ordered_json describe(const Machine& machine, const Processor& p) {
  nlohmann::ordered_json object;
  object["name"] = p.name;
  object["kind"] = to_string(p.kind);
  object["numa"] = p.numa;
  object["memories"] = nlohmann::ordered_json::array();
  for (MemoryId m : p.memories) object["memories"].push_back(machine.memory(m).name);
  if (!p.cpus.empty()) object["cpus"] = p.cpus;
  if (p.emulated) object["emulated"] = true;
  return object;
}

}  // namespace

std::string in_ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string to_json(const Machine& machine) {
  nlohmann::ordered_json root;
  root["name"] = machine.name();
  for (const Memory& m : machine.memories()) {
    nlohmann::ordered_json object;
    object["name"] = m.name;
    object["kind"] = to_string(m.kind);
    object["capacity"] = exact_size(m.capacity);
    if (m.numa >= 0) object["numa"] = m.numa;
    root["memories"].push_back(std::move(object));
  }
  for (const Processor& p : machine.processors())
    if (p.kind != ProcessorKind::gang) root["processors"].push_back(describe(machine, p));
  root["links"] = nlohmann::ordered_json::array();
  for (const Link& link : machine.links()) {
    const std::string bandwidth = short_bandwidth(link.bandwidth);
    const std::string latency = short_duration(link.latency);
    nlohmann::ordered_json object;
    object["from"] = machine.memory(link.from).name;
    object["to"] = machine.memory(link.to).name;
    object["bandwidth"] = quantity(link.bandwidth, bandwidth, parse_bandwidth(bandwidth));
    object["latency"] = quantity(link.latency, latency, parse_duration(latency));
    root["links"].push_back(std::move(object));
  }
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_table(const Machine& machine) {
  std::string text = "machine: " + machine.name() + "\n\nprocessors\n";
  Table processors({"id", "name", "kind", "numa", "runs on", "reaches (best first)"});
  for (const Processor& p : machine.processors())
    processors.add({fmt::format("{}", p.id), p.name,
                    fmt::format("{}{}", to_string(p.kind), p.emulated ? " (emulated)" : ""),
                    fmt::format("{}", p.numa), runs_on(p), names_of(machine, p.memories)});
  text += processors.text() + "\nmemories\n";
  Table memories({"id", "name", "kind", "capacity", "numa", "belongs to"});
  for (const Memory& m : machine.memories())
    memories.add({fmt::format("{}", m.id), m.name, std::string(to_string(m.kind)),
                  short_size(m.capacity), m.numa < 0 ? "-" : fmt::format("{}", m.numa),
                  m.owner ? machine.processor(*m.owner).name : "-"});
  text += memories.text() + "\nlinks (nominal unless a description gave them)\n";
  Table links({"from", "to", "bandwidth", "latency"});
  for (const Link& link : machine.links())
    links.add({machine.memory(link.from).name, machine.memory(link.to).name,
               short_bandwidth(link.bandwidth), short_duration(link.latency)});
  return text + links.text();
}

}  // namespace refrain::machine
