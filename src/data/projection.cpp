#include "data/projection.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "refrain/error.hpp"
#include "refrain/privilege.hpp"

namespace refrain {

namespace {

using Impl = Projection::Impl;
using Matrix = std::array<std::array<Coord, 3>, 3>;
constexpr Matrix unit{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// The function's address decides equality within the process, but is not part of the id.
std::uint64_t content_id(const Impl& impl) {
  const struct Numbers {
    std::uint64_t is_function;
    Matrix matrix;
    Point<3> offset;
    std::uint64_t key;
  } numbers{impl.function != nullptr, impl.matrix, impl.offset, impl.key};
  const std::uint64_t id =
      hash_bytes(impl.name.data(), impl.name.size(), hash_bytes(&numbers, sizeof numbers));
  return id == 0 ? 1 : id;  // 0 is the identity's
}

/// All that are alive, and some that were: entries are weak, and all that have expired go when there are twice as many as
/// after the last time.
struct Table {
  std::mutex mutex;
  std::unordered_multimap<std::uint64_t, std::weak_ptr<const Impl>> entries;
  std::size_t sweep_at = 64;
};

std::shared_ptr<const Impl> intern(Impl impl) {
  // Never destroyed: static projections may end after it would have.
  static auto& table = *new Table;
  impl.id = content_id(impl);
  const std::lock_guard lock(table.mutex);
  for (auto [entry, end] = table.entries.equal_range(impl.id); entry != end; ++entry)
    if (auto alive = entry->second.lock(); alive && *alive == impl) return alive;
  if (table.entries.size() >= table.sweep_at) {
    std::erase_if(table.entries, [](const auto& entry) { return entry.second.expired(); });
    table.sweep_at = 2 * table.entries.size() + 64;
  }
  auto made = std::make_shared<const Impl>(std::move(impl));
  table.entries.emplace(made->id, made);
  return made;
}

}  // namespace

Point<3> Projection::Impl::apply(const Point<3>& point) const {
  if (function != nullptr) return function(point, key);
  Point<3> colour = offset;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      colour.x[row] += matrix[row][column] * point.x[column];
  return colour;
}

Projection Projection::affine(const Matrix& matrix, const Point<3>& offset) {
  Projection projection;
  if (matrix != unit || offset != Point<3>{}) projection.impl_ = intern({matrix, offset});
  return projection;
}

Projection Projection::function(std::string name, Function f, std::uint64_t key) {
  if (f == nullptr) throw UsageError("projection '" + name + "' has no function");
  Projection projection;
  projection.impl_ = intern({.name = std::move(name), .key = key, .function = f});
  return projection;
}

Projection shift(Coord offset) { return Projection::affine(unit, {offset, 0, 0}); }
Projection shift(const Point<2>& offset) {
  return Projection::affine(unit, detail::erase_dimension(offset));
}
Projection shift(const Point<3>& offset) { return Projection::affine(unit, offset); }

namespace data {

std::string describe(const Projection::Impl* projection) {
  if (projection == nullptr) return "identity";
  if (projection->function != nullptr)
    return projection->key == 0 ? projection->name
                                : projection->name + ", key " + std::to_string(projection->key);
  if (projection->matrix == unit) return "shift by " + refrain::to_string(projection->offset);
  return "affine";
}

}  // namespace data

std::string_view to_string(Privilege privilege) {
  switch (privilege) {
    case Privilege::read: return "read";
    case Privilege::write: return "write";
    case Privilege::read_write: return "read-write";
    case Privilege::reduce: return "reduce";
  }
  return "unknown privilege";
}

}  // namespace refrain
