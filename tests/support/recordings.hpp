#pragma once
// What --refrain:graph-calculus writes, taken apart; and machines and mappers with which recordings read as
// in the dynamic tracing paper: memories a, b and c.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "refrain/refrain.hpp"

namespace refrain::test {

struct PrintedTrace {
  std::string title;                          ///< "trace step, file.cpp:12"
  std::string precondition, postcondition;    ///< a line each
  std::map<std::string, std::string> stages;  ///< commands by title

  [[nodiscard]] const std::string& recorded() const { return stages.at("recorded"); }
  [[nodiscard]] const std::string& propagated() const {
    return stages.at("after copy propagation");
  }
};

std::vector<PrintedTrace> take_apart(const std::string& text);

/// A file that goes with this.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view name);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const;
  void write(const std::string& text) const;

 private:
  std::string path_;
};

/// One cpu kind that reaches the system memories a, b and c, in the JSON form.
std::string three_memories();

/// Says where each task's arguments lie; those of tasks it knows nothing of lie in a.
class PlacedMapper final : public Mapper {
 public:
  /// For each point of a task, the memories of its arguments: {{"T2", {"ba"}}, {"F", {"a", "b"}}}.
  using Places = std::map<std::string, std::vector<std::string>, std::less<>>;
  explicit PlacedMapper(Places places) : places_(std::move(places)) {}
  [[nodiscard]] std::string_view name() const override { return "placed"; }
  void map(const MappingInput& input, MappingOutput& output) override;
  /// From the next launch on.
  void place(const std::string& task, std::vector<std::string> memories) {
    places_[task] = std::move(memories);
    forget();
  }

 private:
  Places places_;
};

/// Runs the program on that machine and returns what was recorded of its traces.
struct RecordedRun {
  std::vector<PrintedTrace> traces;
  Counters counters;
};
RecordedRun record(PlacedMapper::Places places,
                   const std::function<void(Context&, PlacedMapper&)>& program);

}  // namespace refrain::test
