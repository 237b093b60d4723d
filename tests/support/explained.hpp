#pragma once
// Runs a program with --refrain:explain, and reads what that leaves.

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "refrain/refrain.hpp"
#include "support/recordings.hpp"

namespace refrain::test {

struct Explained {
  Explained(Options options, const std::function<void(Context&)>& program,
            std::unique_ptr<Mapper> mapper = nullptr) {
    const ScratchFile prefix("explain"), txt("explain.txt"), written("explain.json");
    options.explain = prefix.path();
    Runtime runtime(options);
    if (mapper != nullptr) runtime.set_mapper(std::move(mapper));
    runtime.run(program);
    runtime.write_reports();
    text = txt.text();
    json = std::make_unique<JsonFile>(written.text(), "explanation");
  }

  /// The one that was begun first.
  [[nodiscard]] JsonNode trace() const { return json->root().at("traces").as_array()[0]; }
  [[nodiscard]] JsonNode task(const std::string& name) const {
    for (const JsonNode& task : json->root().at("tasks").as_array())
      if (task.at("name").as_string() == name) return task;
    throw std::runtime_error("no task " + name);
  }
  /// Why calls of the trace were analysed.
  [[nodiscard]] std::vector<std::string> reasons() const { return reasons(trace()); }
  static std::vector<std::string> reasons(const JsonNode& of) {
    std::vector<std::string> found;
    for (const JsonNode& reason : of.at("reasons").as_array())
      found.emplace_back(reason.at("why").as_string());
    return found;
  }

  std::string text;
  std::unique_ptr<JsonFile> json;
};

}  // namespace refrain::test
