#pragma once
// The arrays of a context: `Session np(ctx);` and then, as in NumPy, `np.zeros({n, m})`. A session makes arrays,
// holds what all of them share (the pool of storage, what waits to be fused, tilings), and ends before its context.

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

#include "refrain/arrays/array.hpp"
#include "refrain/context.hpp"

namespace refrain::arrays {

namespace detail {
class SessionImpl;
}

/// What a program may choose. None of it changes results.
struct Settings {
  /// Chains of element-wise operations run as one task per tile, without the temporaries between them.
  bool fusion = true;
  /// Elements of a tile, of which there are at most 64; 0: chosen from the array's size and the machine. For tests.
  Coord tile = 0;
};

/// What a session has counted so far.
struct SessionCounters {
  std::uint64_t operations = 0;  ///< element-wise ones and reductions
  std::uint64_t launches = 0;    ///< of windows, which they became: fewer with fusion
  std::uint64_t regions_made = 0, regions_reused = 0;
  std::size_t bytes_alive = 0;   ///< of arrays that handles or pending operations hold
  std::size_t bytes_pooled = 0;  ///< of dead arrays, kept for the next ones
  std::size_t bytes_most = 0;    ///< the most that was alive at once
};

/// Random numbers by counter (Philox 4x32-10): number i of a stream depends on the seed, the stream and i alone, so
/// arrays are the same for any tiling and number of threads. Each call takes the next stream.
class Random {
 public:
  explicit Random(Session& session) : session_(session) {}
  /// Start again: the same calls give the same numbers.
  void seed(std::uint64_t seed) noexcept {
    seed_ = seed;
    stream_ = 0;
  }
  /// In [low, high), float64.
  Array uniform(const Shape& shape, double low = 0.0, double high = 1.0,
                Where where = Where::current());
  /// Normally distributed (Box-Muller), float64.
  Array normal(const Shape& shape, double mean = 0.0, double deviation = 1.0,
               Where where = Where::current());
  /// In [low, high), int64. ValueError when that is empty.
  Array integers(const Shape& shape, std::int64_t low, std::int64_t high,
                 Where where = Where::current());

 private:
  Session& session_;
  std::uint64_t seed_ = 0, stream_ = 0;
};

class Session {
 public:
  explicit Session(Context& context, const Settings& settings = {});
  /// Handles that are left can only be let go, and what is pending is not launched: nobody can see it any more.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- new arrays -----------------------------------------------------------------------------------------

  Array zeros(const Shape& shape, DType type = DType::float64, Where where = Where::current());
  Array ones(const Shape& shape, DType type = DType::float64, Where where = Where::current());
  /// Of the number's own type unless one is given: int64, float64, bool or complex128.
  Array full(const Shape& shape, const Operand& value);
  Array full(const Shape& shape, const Operand& value, DType type);
  /// Elements that are to be overwritten. (They are zeros.)
  Array empty(const Shape& shape, DType type = DType::float64, Where where = Where::current());
  /// Of another array's shape and type.
  Array zeros_like(const Array& other, Where where = Where::current());
  Array ones_like(const Array& other, Where where = Where::current());
  Array empty_like(const Array& other, Where where = Where::current());
  Array full_like(const Array& other, const Operand& value);
  /// 0 .. stop - 1, and start, start + step ... before stop. int64, or float64 when a bound is floating-point.
  Array arange(const Operand& stop);
  Array arange(const Operand& start, const Operand& stop, const Operand& step = 1);
  /// `count` numbers from start to stop, both included unless `endpoint` is false. float64.
  Array linspace(double start, double stop, Coord count = 50, bool endpoint = true,
                 Where where = Where::current());
  /// Ones on diagonal k of a matrix with n rows and m columns (n, where it is left out).
  Array eye(Coord n, std::optional<Coord> m = std::nullopt, Coord k = 0,
            DType type = DType::float64, Where where = Where::current());
  /// Of values in C order; copied before the call returns.
  template <Element T>
  Array array(std::span<const T> values, const Shape& shape, Where where = Where::current()) {
    return from_memory(values.data(), values.size(), dtype_of<T>, shape, where);
  }
  template <Element T>
  Array array(const std::vector<T>& values,
              Where where = Where::current()) requires(!std::same_as<T, bool>) {
    return from_memory(values.data(), values.size(), dtype_of<T>,
                       Shape(static_cast<Coord>(values.size())), where);
  }
  template <Element T>
  Array array(const std::vector<T>& values, const Shape& shape,
              Where where = Where::current()) requires(!std::same_as<T, bool>) {
    return from_memory(values.data(), values.size(), dtype_of<T>, shape, where);
  }
  template <Element T>
  Array array(std::initializer_list<T> values, Where where = Where::current()) {
    return from_memory(values.begin(), values.size(), dtype_of<T>,
                       Shape(static_cast<Coord>(values.size())), where);
  }
  /// `count` elements of `type` in C order; ValueError unless the shape has so many.
  Array from_memory(const void* values, std::size_t count, DType type, const Shape& shape,
                    Where where = Where::current());

  Random random{*this};

  // --- the session ----------------------------------------------------------------------------------------

  /// Launches what waits to be fused. Never needed for a result.
  void flush();
  /// Launches what is pending and waits until everything launched in the context is done.
  void wait();
  [[nodiscard]] Context& context() const;
  [[nodiscard]] SessionCounters counters() const;
  [[nodiscard]] detail::SessionImpl& impl() const { return *impl_; }

 private:
  std::unique_ptr<detail::SessionImpl> impl_;
};

}  // namespace refrain::arrays
