// Values become bytes and values again (refrain/packing.hpp).
#include "refrain/packing.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "refrain/geometry.hpp"

namespace refrain {

struct Polygon {
  std::string name;
  std::vector<Point2> corners;
  bool operator==(const Polygon&) const = default;
};

template <>
struct Packing<Polygon> {
  static void pack(Packer& to, const Polygon& polygon) {
    to.put(polygon.name);
    to.put(polygon.corners);
  }
  static Polygon unpack(Unpacker& from) {
    auto name = from.get<std::string>();
    return {std::move(name), from.get<std::vector<Point2>>()};
  }
};

namespace {

static_assert(Packable<Polygon> && Packable<std::vector<std::vector<std::string>>>);
static_assert(!Packable<std::vector<int*>> && !Packable<int*> && !Packable<std::unique_ptr<int>>);

template <class T>
T there_and_back(const T& value) {
  Packer packer;
  value_packing<T>.pack(packer, &value);
  Unpacker unpacker(packer.packed());
  alignas(T) std::byte room[sizeof(T)];
  value_packing<T>.unpack(unpacker, room);
  EXPECT_EQ(unpacker.left(), 0u);
  T* const made = std::launder(reinterpret_cast<T*>(room));
  T result = std::move(*made);
  std::destroy_at(made);
  return result;
}

TEST(Packing, ThereAndBack) {
  EXPECT_EQ(there_and_back(17), 17);
  EXPECT_EQ(there_and_back(Point3{1, -2, 3}), (Point3{1, -2, 3}));
  EXPECT_EQ(there_and_back(std::string()), "");
  EXPECT_EQ(there_and_back(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(there_and_back(std::string(10'000, 'x')), std::string(10'000, 'x'));
  EXPECT_EQ(there_and_back(std::vector<bool>{true, false, true}),
            (std::vector<bool>{true, false, true}));
  const std::vector<std::vector<std::string>> nested{{}, {"a", ""}, {"bc"}};
  EXPECT_EQ(there_and_back(nested), nested);
  const std::vector<Polygon> polygons{{"none", {}}, {"line", {{0, 0}, {3, 4}}}};
  EXPECT_EQ(there_and_back(polygons), polygons);
}

TEST(Packing, TooFewBytesAreAnError) {
  Packer packer;
  packer.put(std::string("four"));
  for (std::size_t size = 0; size < packer.packed().size(); ++size) {
    Unpacker unpacker(packer.packed().first(size));
    EXPECT_THROW(static_cast<void>(unpacker.get<std::string>()), UsageError);
  }
  Unpacker unpacker(packer.packed());
  try {
    static_cast<void>(unpacker.get<std::array<char, 20>>());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "Unpacker: expected 20 bytes, found 12: a type is not unpacked as it was packed");
  }
}

}  // namespace
}  // namespace refrain
