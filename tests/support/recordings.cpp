#include "support/recordings.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace refrain::test {

ScratchFile::ScratchFile(std::string_view name)
    : path_((std::filesystem::temp_directory_path() /
             ("refrain_" + std::to_string(getpid()) + "_" + std::string(name)))
                .string()) {}
ScratchFile::~ScratchFile() { std::filesystem::remove(path_); }

std::string ScratchFile::text() const {
  std::ifstream in(path_);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void ScratchFile::write(const std::string& text) const { std::ofstream(path_) << text; }

std::vector<PrintedTrace> take_apart(const std::string& text) {
  std::vector<PrintedTrace> traces;
  std::string* part = nullptr;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("trace ")) {
      traces.push_back({line, {}, {}, {}});
      part = nullptr;
    } else if (line == "precondition:") {
      part = &traces.back().precondition;
    } else if (line == "postcondition:") {
      part = &traces.back().postcondition;
    } else if (line.starts_with("-- ")) {
      part = &traces.back().stages[line.substr(3)];
    } else if (part != nullptr && !line.empty()) {
      *part += line.substr(line.find_first_not_of(' ')) + "\n";
    }
  }
  return traces;
}

std::string three_memories() {
  return R"({
  "memories": [
    {"name": "a", "kind": "system", "capacity": "1MiB"},
    {"name": "b", "kind": "system", "capacity": "1MiB"},
    {"name": "c", "kind": "system", "capacity": "1MiB"}
  ],
  "processors": [{"name": "cpu", "kind": "cpu", "count": 2, "memories": ["a", "b", "c"]}],
  "links": [
    {"between": ["a", "b"], "bandwidth": "1GB/s", "latency": "1us"},
    {"between": ["b", "c"], "bandwidth": "1GB/s", "latency": "1us"},
    {"between": ["a", "c"], "bandwidth": "1GB/s", "latency": "1us"}
  ]
})";
}

void PlacedMapper::map(const MappingInput& input, MappingOutput& output) {
  const auto found = places_.find(input.task);
  for (std::size_t i = 0; i < output.arguments.size(); ++i) {
    const char memory = found == places_.end() ? 'a' : found->second.at(input.rank).at(i);
    output.arguments[i].memories = {static_cast<MemoryId>(memory - 'a')};
  }
}

RecordedRun record(PlacedMapper::Places places,
                   const std::function<void(Context&, PlacedMapper&)>& program) {
  const ScratchFile machine("machine.json"), recordings("recordings");
  machine.write(three_memories());
  Options options;
  options.workers = 1;
  options.machine = machine.path();
  options.graph_calculus = recordings.path();
  Runtime runtime(options);
  auto mapper = std::make_unique<PlacedMapper>(std::move(places));
  PlacedMapper& placed = *mapper;
  runtime.set_mapper(std::move(mapper));
  runtime.run([&](Context& ctx) { program(ctx, placed); });
  runtime.write_reports();
  return {take_apart(recordings.text()), runtime.counters()};
}

}  // namespace refrain::test
