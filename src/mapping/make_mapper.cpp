#include "mapping/make_mapper.hpp"

#include "refrain/error.hpp"

namespace refrain::mapping {

namespace {

// The answer comes filled in by the default rules, and stays as it is.
class DefaultMapper final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "default"; }
  void map(const MappingInput&, MappingOutput&) override {}
};

}  // namespace

std::unique_ptr<Mapper> make_mapper(const std::string& name) {
  if (name != "default")
    throw InputError("--refrain:mapper: expected 'default', found '" + name + "'");
  return std::make_unique<DefaultMapper>();
}

}  // namespace refrain::mapping
