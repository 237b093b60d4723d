#include "support/values.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "support/random.hpp"

namespace refrain::test {

namespace {

/// An int32 that points.
struct Point32 {
  std::int32_t to = 0;
};

/// Calls f with a value of the kind's type.
template <class F>
auto with_type(ValueKind kind, F&& f) {
  switch (kind) {
    case ValueKind::f64: return f(double{});
    case ValueKind::i64: return f(std::int64_t{});
    case ValueKind::f32: return f(float{});
    case ValueKind::i32: return f(std::int32_t{});
    case ValueKind::p1: return f(Point<1>{});
    case ValueKind::p2: return f(Point<2>{});
    case ValueKind::p3: return f(Point<3>{});
    default: return f(Point32{});
  }
}

template <class T>
inline constexpr int dim_of = 0;
template <int N>
inline constexpr int dim_of<Point<N>> = N;
template <>
inline constexpr int dim_of<Point32> = 1;

/// In [-1, 1), all bits of the mantissa used; integers in [-1000, 1000]; points where regions are.
template <class T>
T from_hash(std::uint64_t hash) {
  if constexpr (std::is_same_v<T, Point32>) {
    return {static_cast<std::int32_t>(from_hash<Point<1>>(hash)[0])};
  } else if constexpr (dim_of < T >> 0) {
    constexpr std::uint64_t reach = dim_of<T> == 1 ? 16 : dim_of<T> == 2 ? 9 : 7;
    T point;
    for (int d = 0; d < dim_of<T>; ++d)
      point[d] = static_cast<Coord>(mix(hash, static_cast<std::uint64_t>(d)) % reach) - 2;
    return point;
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr int bits = std::numeric_limits<T>::digits;
    return static_cast<T>(hash >> (64 - bits)) / static_cast<T>(std::uint64_t{1} << (bits - 1)) -
           T(1);
  } else {
    return static_cast<T>(hash % 2001) - T(1000);
  }
}

template <class T>
T contribution(OpKind op, std::uint64_t hash) {
  const T x = from_hash<T>(hash);
  if (op != OpKind::product) return x;
  if constexpr (std::is_floating_point_v<T>) return T(1) + x / T(8);
  else return hash % 2 == 0 ? T(1) : T(-1);
}

template <class T>
const ReductionOp& typed_op(OpKind op) {
  switch (op) {
    case OpKind::sum: return reduction_op<Sum, T>;
    case OpKind::product: return reduction_op<Product, T>;
    case OpKind::min: return reduction_op<Min, T>;
    default: return reduction_op<Max, T>;
  }
}

}  // namespace

std::size_t size_of(ValueKind kind) {
  return with_type(kind, [](auto t) { return sizeof(t); });
}

const char* name_of(ValueKind kind) {
  constexpr std::array names{"double", "int64",  "float",  "int32",
                             "point1", "point2", "point3", "pointer32"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(OpKind op) {
  constexpr std::array names{"sum", "product", "min", "max"};
  return names[static_cast<std::size_t>(op)];
}

AnyField field_of(ValueKind kind, int index) {
  constexpr std::array<const char*, max_fields> names{"f0", "f1", "f2", "f3"};
  const char* name = names[static_cast<std::size_t>(index)];
  if (kind == ValueKind::p32) return Field<std::int32_t>{name};
  return with_type(kind, [&](auto t) -> AnyField { return Field<decltype(t)>{name}; });
}

const ReductionOp& op_of(OpKind op, ValueKind kind) {
  return *with_type(kind, [&](auto t) -> const ReductionOp* {
    if constexpr (dim_of < decltype(t) >> 0) return nullptr;
    else return &typed_op<decltype(t)>(op);
  });
}

bool any_order(OpKind op, ValueKind kind) {
  const bool integer = kind == ValueKind::i64 || kind == ValueKind::i32;
  return integer || op == OpKind::min || op == OpKind::max;
}

std::uint64_t value_bits(ValueKind kind, const void* value) {
  std::uint64_t words[max_value_size / 8]{};
  std::memcpy(words, value, size_of(kind));
  return words[1] == 0 && words[2] == 0 ? words[0] : mix(mix(words[0], words[1]), words[2]);
}

void write_value(ValueKind kind, void* value, std::uint64_t hash) {
  with_type(kind, [&](auto t) {
    t = from_hash<decltype(t)>(hash);
    std::memcpy(value, &t, sizeof t);
  });
}

void update_value(ValueKind kind, void* value, std::uint64_t hash) {
  with_type(kind, [&](auto t) {
    using T = decltype(t);
    std::memcpy(&t, value, sizeof t);
    if constexpr (dim_of < T >> 0) t = from_hash<T>(mix(hash, value_bits(kind, value)));
    else t = static_cast<T>(t / T(2) + from_hash<T>(hash));
    std::memcpy(value, &t, sizeof t);
  });
}

void contribute(ValueKind kind, OpKind op, void* value, std::uint64_t hash) {
  with_type(kind, [&](auto t) {
    using T = decltype(t);
    if constexpr (dim_of<T> == 0) {
      t = contribution<T>(op, hash);
      typed_op<T>(op).fold(value, sizeof(T), &t, sizeof(T), 1);
    }
  });
}

Point<3> pointed(ValueKind kind, const void* value) {
  Point<3> point{};
  if (kind == ValueKind::p32) {
    std::int32_t to = 0;
    std::memcpy(&to, value, sizeof to);
    point[0] = to;
    return point;
  }
  for (int d = 0; d < pointer_dim(kind); ++d)
    std::memcpy(&point[d], static_cast<const std::byte*>(value) + 8 * d, sizeof point[d]);
  return point;
}

std::string value_text(ValueKind kind, const void* value) {
  return with_type(kind, [&](auto t) {
    std::memcpy(&t, value, sizeof t);
    char text[64];
    if constexpr (std::is_same_v<decltype(t), Point32>) return std::to_string(t.to);
    else if constexpr (dim_of < decltype(t) >> 0) return to_string(t);
    else if constexpr (std::is_floating_point_v<decltype(t)>)
      std::snprintf(text, sizeof text, "%.17g (%a)", static_cast<double>(t),
                    static_cast<double>(t));
    else std::snprintf(text, sizeof text, "%lld", static_cast<long long>(t));
    return std::string(text);
  });
}

}  // namespace refrain::test
