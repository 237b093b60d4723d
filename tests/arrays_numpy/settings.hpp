#pragma once
// The settings in which programs run, none of which may change a bit of a result: automatic tracing, fusion, tiles,
// workers, the seeded scheduler, and GPUs.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "refrain/arrays.hpp"

namespace refrain::test::numpy {

struct Setting {
  bool autotrace = true;
  bool fusion = true;
  arrays::Coord tile = 0;
  int workers = 0;
  std::optional<std::uint64_t> schedule;
  bool gpus = false;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] arrays::Settings of_session() const;
};

/// All combinations, in an order in which neighbours differ in most things.
const std::vector<Setting>& all_settings();

/// One runtime for all settings that need the same: programs are short, and making a runtime is not.
class Runtimes {
 public:
  Runtime& of(const Setting& setting);

 private:
  using Key = std::tuple<bool, int, std::optional<std::uint64_t>, bool>;
  std::map<Key, std::unique_ptr<Runtime>> made_;
};

}  // namespace refrain::test::numpy
