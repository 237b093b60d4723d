#pragma once
// How a value that owns memory becomes bytes, and a value again. Where several processes run a program, results of tasks
// go from one to another so (docs/control-replication.md).

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "refrain/error.hpp"

namespace refrain {

/// How a T is packed. There is one for trivially copyable types, std::string and std::vector; specialise it for types of
/// your own:
///
///   template <>
///   struct refrain::Packing<Mesh> {
///     static void pack(Packer& to, const Mesh& mesh) { to.put(mesh.name), to.put(mesh.corners); }
///     static Mesh unpack(Unpacker& from) {
///       auto name = from.get<std::string>();
///       return {std::move(name), from.get<std::vector<double>>()};
///     }
///   };
///
/// Addresses mean nothing to another process, so pointers have none.
template <class T>
struct Packing;

/// Appends values to bytes.
class Packer {
 public:
  template <class T>
  void put(const T& value) {
    Packing<T>::pack(*this, value);
  }
  void bytes(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    packed_.insert(packed_.end(), first, first + size);
  }
  [[nodiscard]] std::span<const std::byte> packed() const { return packed_; }

 private:
  std::vector<std::byte> packed_;
};

/// Takes values from bytes, in the order in which they were put there. UsageError where there are too few.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> packed) : left_(packed) {}
  template <class T>
  [[nodiscard]] T get() {
    return Packing<T>::unpack(*this);
  }
  void bytes(void* to, std::size_t size) {
    if (size > left_.size())
      throw UsageError("Unpacker: expected " + std::to_string(size) + " bytes, found " +
                       std::to_string(left_.size()) + ": a type is not unpacked as it was packed");
    if (size > 0) std::memcpy(to, left_.data(), size);
    left_ = left_.subspan(size);
  }
  /// Bytes that nothing has taken.
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

/// Has a Packing.
template <class T>
concept Packable = requires(Packer& to, Unpacker& from, const T& value) {
  Packing<T>::pack(to, value);
  { Packing<T>::unpack(from) } -> std::convertible_to<T>;
};

template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>)
struct Packing<T> {
  static void pack(Packer& to, const T& value) { to.bytes(&value, sizeof value); }
  static T unpack(Unpacker& from) {
    std::array<std::byte, sizeof(T)> bytes;
    from.bytes(bytes.data(), bytes.size());
    return std::bit_cast<T>(bytes);
  }
};

template <>
struct Packing<std::string> {
  static void pack(Packer& to, const std::string& text) {
    to.put(text.size());
    to.bytes(text.data(), text.size());
  }
  static std::string unpack(Unpacker& from) {
    std::string text(from.get<std::size_t>(), '\0');
    from.bytes(text.data(), text.size());
    return text;
  }
};

template <Packable T>
struct Packing<std::vector<T>> {
  static void pack(Packer& to, const std::vector<T>& values) {
    to.put(values.size());
    for (const T& value : values) to.put<T>(value);
  }
  static std::vector<T> unpack(Unpacker& from) {
    std::vector<T> values;
    for (auto left = from.get<std::size_t>(); left > 0; --left) values.push_back(from.get<T>());
    return values;
  }
};

/// The same for a type that is known while the program runs.
struct ValuePacking {
  void (*pack)(Packer& to, const void* value);
  /// Makes a value at `to`.
  void (*unpack)(Unpacker& from, void* to);
};

template <Packable T>
inline constexpr ValuePacking value_packing{
    [](Packer& to, const void* value) { to.put(*static_cast<const T*>(value)); },
    [](Unpacker& from, void* to) { ::new (to) T(from.get<T>()); }};

}  // namespace refrain
