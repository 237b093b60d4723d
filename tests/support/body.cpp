#include "support/body.hpp"

#include "support/random.hpp"

namespace refrain::test {

namespace {

template <class F>
void each_point(const View& view, F&& f) {
  for (int i = 0; i < view.points(); ++i)
    if (has(view.argument().points, i)) f(i);
}

void contribute_at(View& view, int i, std::uint64_t hash) {
  for (std::uint64_t k = 0; k < hash % 4; ++k)
    contribute(view.kind(), view.argument().op, view.at(i), mix(hash, k));
}

}  // namespace

View::View(const ResolvedArgument& is, const Shape& shape)
    : is_(&is),
      kind_(shape.fields[static_cast<std::size_t>(is.field)]),
      points_(static_cast<int>(shape.points.size())) {}

std::uint64_t run_body(std::uint64_t salt, const Point<3>& point,
                       std::span<const std::uint64_t> futures, std::span<View* const> arguments) {
  std::uint64_t digest = mix(salt);
  for (int d = 0; d < 3; ++d) digest = mix(digest, static_cast<std::uint64_t>(point[d]));
  for (const std::uint64_t f : futures) digest = mix(digest, f);
  for (View* view : arguments)
    if (reads(view->argument().privilege))
      each_point(*view,
                 [&](int i) { digest = mix(digest, value_bits(view->kind(), view->at(i))); });
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    View& view = *arguments[a];
    const std::uint64_t start = mix(digest, a);
    each_point(view, [&](int i) {
      const std::uint64_t hash = mix(start, static_cast<std::uint64_t>(i));
      switch (view.argument().privilege) {
        case Privilege::write: write_value(view.kind(), view.at(i), hash); break;
        case Privilege::read_write: update_value(view.kind(), view.at(i), hash); break;
        case Privilege::reduce: contribute_at(view, i, hash); break;
        default: break;
      }
    });
  }
  return digest;
}

std::vector<std::byte> contents(View& view) {
  std::vector<std::byte> bytes;
  each_point(view, [&](int i) {
    const auto* value = static_cast<const std::byte*>(view.at(i));
    bytes.insert(bytes.end(), value, value + size_of(view.kind()));
  });
  return bytes;
}

void make_result(ValueKind kind, std::uint64_t digest, void* value) {
  write_value(kind, value, mix(digest, 0x7265));
}

}  // namespace refrain::test
