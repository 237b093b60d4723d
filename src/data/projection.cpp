#include "data/projection.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "data/box_list.hpp"
#include "refrain/error.hpp"
#include "refrain/privilege.hpp"

namespace refrain {

namespace {

using Impl = Projection::Impl;
using Matrix = std::array<std::array<Coord, 3>, 3>;
constexpr Matrix unit{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// The function's address decides equality within the process, but is not part of the id.
bool equal(const Impl& a, const Impl& b) {
  return a.kind == b.kind && a.matrix == b.matrix && a.offset == b.offset && a.name == b.name &&
         a.key == b.key && a.function == b.function;
}

std::uint64_t content_id(const Impl& impl) {
  std::array<std::uint64_t, 14> words{};
  std::size_t n = 0;
  words[n++] = static_cast<std::uint64_t>(impl.kind);
  for (const auto& row : impl.matrix)
    for (const Coord x : row) words[n++] = static_cast<std::uint64_t>(x);
  for (const Coord x : impl.offset.x) words[n++] = static_cast<std::uint64_t>(x);
  words[n] = impl.key;
  const std::uint64_t hash = hash_bytes(words.data(), sizeof words);
  const std::uint64_t id = hash_bytes(impl.name.data(), impl.name.size(), hash);
  return id == 0 ? 1 : id;  // 0 is the identity's
}

// Entries are weak and go when a later insertion finds them expired, a few at each insertion; so the table
// stays within a constant factor of what is alive.
class Table {
 public:
  static Table& instance() {
    static auto* table =
        new Table;  // never destroyed: static projections may end after it would have
    return *table;
  }

  std::shared_ptr<const Impl> intern(Impl impl) {
    impl.id = content_id(impl);
    const std::lock_guard lock(mutex_);
    auto [entry, end] = entries_.equal_range(impl.id);
    for (; entry != end; ++entry)
      if (auto alive = entry->second.lock(); alive && equal(*alive, impl)) return alive;
    if (entries_.size() >= sweep_at_) {
      std::erase_if(entries_, [](const auto& dead) { return dead.second.expired(); });
      sweep_at_ = 2 * entries_.size() + 64;
    }
    auto made = std::make_shared<const Impl>(std::move(impl));
    entries_.emplace(made->id, made);
    return made;
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::weak_ptr<const Impl>> entries_;
  std::size_t sweep_at_ = 64;
};

}  // namespace

Point<3> Projection::Impl::apply(const Point<3>& point) const {
  if (kind == Kind::function) return function(point, key);
  Point<3> colour = offset;
  for (int row = 0; row < 3; ++row) {
    const auto& factors = matrix[static_cast<std::size_t>(row)];
    for (int column = 0; column < 3; ++column)
      colour[row] += factors[static_cast<std::size_t>(column)] * point[column];
  }
  return colour;
}

Projection Projection::affine(const Matrix& matrix, const Point<3>& offset) {
  Projection projection;
  if (matrix == unit && offset == Point<3>{}) return projection;
  Impl impl;
  impl.kind = Impl::Kind::affine;
  impl.matrix = matrix;
  impl.offset = offset;
  projection.impl_ = Table::instance().intern(std::move(impl));
  return projection;
}

Projection Projection::function(std::string name, Function f, std::uint64_t key) {
  if (f == nullptr) throw UsageError("projection '" + name + "' has no function");
  Impl impl;
  impl.kind = Impl::Kind::function;
  impl.name = std::move(name);
  impl.key = key;
  impl.function = f;
  Projection projection;
  projection.impl_ = Table::instance().intern(std::move(impl));
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
  if (projection->kind == Impl::Kind::function)
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
