#include "support/records.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace refrain::bench {

namespace {

auto name_of(const Record& r) {
  return std::tie(r.benchmark, r.system, r.variant, r.threads, r.size, r.metric);
}

}  // namespace

void Records::add(Record record) {
  const bool known = std::any_of(records_.begin(), records_.end(), [&](const Record& other) {
    return name_of(other) == name_of(record);
  });
  if (known) {
    throw std::logic_error("two records of the same name: " + record.benchmark + " " +
                           record.system + " " + record.variant + " " + record.metric);
  }
  records_.push_back(std::move(record));
}

void Records::write(const std::string& path) const {
  if (path.empty()) return;
  nlohmann::json list = nlohmann::json::array();
  for (const Record& r : records_) {
    list.push_back({{"benchmark", r.benchmark},
                    {"system", r.system},
                    {"variant", r.variant},
                    {"threads", r.threads},
                    {"size", r.size},
                    {"metric", r.metric},
                    {"unit", r.unit},
                    {"value", r.value.median},
                    {"min", r.value.min},
                    {"max", r.value.max}});
  }
  std::ofstream file(path);
  file << list.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace refrain::bench
