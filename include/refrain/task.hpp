#pragma once
// Tasks of the typed API. The parameters of the body say everything:
//   Read<T, N>, Write<T, N>, ReadWrite<T, N>, Reduce<Op, T, N>   a region argument and its privilege
//   Fields<Read<T, N>, Write<U, N>, ...>                         one with several fields, an accessor for each
//   FieldList<Read<T, N>>                                        one with as many fields as the launch says
//   Point<N>                                                     the point of a group launch
//   Context&                                                     for launching child tasks
//   Gang&                                                        several cores run the body's loops
//   anything else, by value or const reference                   a by-value argument, or a future of it
// The return type, if any, becomes a future.
//
//   const Task scale{"scale", [](ReadWrite<double> x, double a) {
//     for (auto p : x.domain()) x[p] *= a;
//   }};

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "refrain/dynamic.hpp"

namespace refrain {

class Context;

/// Several cores running one task together. Bodies take it by reference.
class Gang {
 public:
  explicit Gang(detail::ContextSource& source) : source_(source) {}
  /// Calls f(begin, end) for pieces of [0, count), on this thread and on idle cores; returns when all
  /// are done. No barriers inside f: one thread may have to run it all.
  void parallel_for(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& f,
                    std::int64_t grain = 1) {
    source_.parallel_for(count, grain, f);
  }

 private:
  detail::ContextSource& source_;
};

/// The parameter for a region argument with several fields, `region[fields(position, velocity)]`, with an accessor and a
/// privilege for each:
///
///   const Task move{"move", [](Fields<ReadWrite<double>, Read<double>> points, double dt) {
///     const auto& [x, u] = points;
///     for (auto p : x.domain()) x[p] += dt * u[p];
///   }};
template <class... Accessors>
using Fields = std::tuple<Accessors...>;

/// The parameter for a region argument with a vector of fields, whose number the program knows when it runs:
///
///   const Task decay{"decay", [](FieldList<ReadWrite<double>> species, double factor) {
///     for (const auto x : species)
///       for (auto p : x.domain()) x[p] *= factor;
///   }};
///   ctx.launch(decay, cells[species], 0.5);  // std::vector<Field<double>> species
///
/// Accessors are made when they are asked for. Messages count its fields after all other region arguments.
template <class Accessor>
class FieldList {
 public:
  using accessor = Accessor;

  explicit FieldList(std::span<const PhysicalArgument> arguments) : arguments_(arguments) {}
  [[nodiscard]] std::size_t size() const { return arguments_.size(); }
  [[nodiscard]] bool empty() const { return arguments_.empty(); }
  /// The accessor of a field; UsageError beyond the last one.
  Accessor operator[](std::size_t i) const {
    if (i >= size()) [[unlikely]]
      detail::fail_field(i, size());
    return Accessor{arguments_[i]};
  }

  class iterator {
   public:
    using value_type = Accessor;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(const PhysicalArgument* at) : at_(at) {}
    Accessor operator*() const { return Accessor{*at_}; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return iterator{at_++}; }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    const PhysicalArgument* at_ = nullptr;
  };
  [[nodiscard]] iterator begin() const { return iterator{arguments_.data()}; }
  [[nodiscard]] iterator end() const { return iterator{arguments_.data() + size()}; }

 private:
  std::span<const PhysicalArgument> arguments_;
};

/// A by-value argument that differs from point to point: `per_point(f)` with f(Point<N>) -> T, called
/// at the launch for each point of the domain, in order.
template <class F>
struct PerPoint {
  F f;
};
template <class F>
PerPoint<std::decay_t<F>> per_point(F&& f) {
  return {std::forward<F>(f)};
}

namespace detail {

template <class... Ts>
struct TypeList {};

template <class T>
inline constexpr bool is_per_point = false;
template <class F>
inline constexpr bool is_per_point<PerPoint<F>> = true;

template <class T>
concept AccessorType = requires {
  { T::privilege } -> std::convertible_to<Privilege>;
  typename T::value_type;
  { T::dim } -> std::convertible_to<int>;
};

template <class T>
inline constexpr bool is_point = false;
template <int N>
inline constexpr bool is_point<Point<N>> = true;

/// A parameter that the runtime provides and a launch does not mention.
template <class P>
inline constexpr bool is_implicit =
    is_point<std::remove_cvref_t<P>> || std::is_same_v<std::remove_cvref_t<P>, Context> ||
    std::is_same_v<std::remove_cvref_t<P>, Gang>;
template <class P>
inline constexpr bool is_accessor = AccessorType<std::remove_cvref_t<P>>;

/// The accessors of a parameter: none, one, or those of its Fields.
template <class P>
struct AccessorsOf {
  using type = TypeList<>;
};
template <AccessorType P>
struct AccessorsOf<P> {
  using type = TypeList<P>;
};
template <AccessorType... As>
  requires(sizeof...(As) > 0)
struct AccessorsOf<Fields<As...>> {
  using type = TypeList<As...>;
};
template <class... Ts>
constexpr std::size_t length(TypeList<Ts...>) {
  return sizeof...(Ts);
}
template <class P>
inline constexpr std::size_t accessor_count =
    length(typename AccessorsOf<std::remove_cvref_t<P>>::type{});
template <class T>
inline constexpr bool is_field_list = false;
template <AccessorType A>
inline constexpr bool is_field_list<FieldList<A>> = true;
template <class P>
inline constexpr bool is_list = is_field_list<std::remove_cvref_t<P>>;
template <class P>
inline constexpr bool is_value = !is_implicit<P> && accessor_count<P> == 0 && !is_list<P>;
/// What a launch keeps beside its region arguments: a value, or where a list's arguments are.
template <class P>
inline constexpr bool has_slot = is_value<P> || is_list<P>;

/// Where the arguments of a list are among those of a launch.
struct ListPlace {
  std::uint32_t first, count;
};

/// The value of one point: an object of its own whatever T is (the elements of std::vector<bool> are not).
template <class T>
struct PointValue {
  T value;
};

/// Where a by-value argument waits until its task runs: itself, a future of it, or one per point.
template <class T>
using ValueSlot = std::variant<T, Future<T>, std::vector<PointValue<T>>>;

template <class T>
const T& slot_value(const ValueSlot<T>& slot, const TaskFrame& frame) {
  if (auto* value = std::get_if<0>(&slot)) return *value;
  if (auto* future = std::get_if<1>(&slot))
    return *static_cast<const T*>(ready_value(*future->state()));
  return std::get<2>(slot)[frame.rank].value;
}

/// Mixes bytes into a hash.
std::uint64_t mix_bytes(std::uint64_t hash, const void* bytes, std::size_t size) noexcept;
template <class T>
std::uint64_t mix_value(std::uint64_t hash, const T& value) noexcept {
  if constexpr (sizeof(T) > sizeof(std::uint64_t)) {
    return mix_bytes(hash, &value, sizeof value);
  } else {  // few instructions, and none for the first: each launch on several shards does this
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return std::rotl(hash * 0x9e3779b97f4a7c15u, 32) ^ word;
  }
}

/// How to move, end and hash a launch's by-value arguments, a tuple of slots.
template <class Values>
inline constexpr ValueOps argument_ops = [] {
  ValueOps ops = value_ops<Values>;
  ops.hash = [](const void* values) {
    std::uint64_t hash = 0;
    const auto mix = [&hash]<class T>(const ValueSlot<T>& slot) {
      if constexpr (has_equal_bytes<T>) {
        if (const T* value = std::get_if<0>(&slot)) {
          hash = mix_value(hash, *value);
        } else if (const auto* of_points = std::get_if<2>(&slot)) {
          static_assert(sizeof(PointValue<T>) == sizeof(T), "there is nothing between the values");
          hash = mix_bytes(hash, of_points->data(), of_points->size() * sizeof(T));
        }
      }
    };
    const auto mix_slot = [&]<class Slot>(const Slot& slot) {
      if constexpr (std::is_same_v<Slot, ListPlace>) hash = mix_value(hash, slot.count);
      else mix(slot);
    };
    std::apply([&](const auto&... slots) { (mix_slot(slots), ...); },
               *static_cast<const Values*>(values));
    return hash;
  };
  return ops;
}();

template <class List, class... Done>
struct ValueSlots;
template <class... Done>
struct ValueSlots<TypeList<>, Done...> {
  using type = std::tuple<Done...>;
};
template <class P>
struct SlotOf : std::type_identity<ValueSlot<std::remove_cvref_t<P>>> {};
template <class P>
  requires is_list<P>
struct SlotOf<P> : std::type_identity<ListPlace> {
};
template <class P, class... Rest, class... Done>
struct ValueSlots<TypeList<P, Rest...>, Done...>
    : std::conditional_t<has_slot<P>,
                         ValueSlots<TypeList<Rest...>, Done..., typename SlotOf<P>::type>,
                         ValueSlots<TypeList<Rest...>, Done...>> {};

template <class... Lists>
struct Joined {
  using type = TypeList<>;
};
template <class... As>
struct Joined<TypeList<As...>> {
  using type = TypeList<As...>;
};
template <class... As, class... Bs, class... Lists>
struct Joined<TypeList<As...>, TypeList<Bs...>, Lists...>
    : Joined<TypeList<As..., Bs...>, Lists...> {};

/// The accessors of all parameters, in order: the requirements of a launch whose places are known.
template <class List>
struct Accessors;
template <class... Ps>
struct Accessors<TypeList<Ps...>> : Joined<typename AccessorsOf<std::remove_cvref_t<Ps>>::type...> {
};
/// Those of its lists, in order: these requirements come after all others.
template <class List>
struct ListAccessors;
template <class... Ps>
struct ListAccessors<TypeList<Ps...>>
    : Joined<std::conditional_t<is_list<Ps>, TypeList<std::remove_cvref_t<Ps>>, TypeList<>>...> {};

template <class F>
struct Signature {
  static_assert(sizeof(F) == 0,
                "a task's body is a function or a lambda whose parameters have their types written "
                "out: they are its privileges (no `auto`, no overloads)");
  using result = void;
  using parameters = TypeList<>;
};
template <class F>
  requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};
template <class R, class... Ps>
struct Signature<R (*)(Ps...)> {
  using result = R;
  using parameters = TypeList<Ps...>;
};
template <class C, class R, class... Ps>
struct Signature<R (C::*)(Ps...) const> : Signature<R (*)(Ps...)> {};
template <class C, class R, class... Ps>
struct Signature<R (C::*)(Ps...) const noexcept> : Signature<R (*)(Ps...)> {};
template <class C, class R, class... Ps>
struct Signature<R (C::*)(Ps...)> {
  static_assert(sizeof(C) == 0,
                "a task's body must be callable more than once at a time: "
                "the lambda must not be `mutable`");
};

template <class P>
inline constexpr bool can_be_given =
    !std::is_reference_v<P> || std::is_const_v<std::remove_reference_t<P>> ||
    std::is_same_v<P, Context&> || std::is_same_v<P, Gang&>;
template <class... Ps>
constexpr bool can_all_be_given(TypeList<Ps...>) {
  return (can_be_given<Ps> && ...);
}

/// The sum of what the first `count` parameters have.
template <template <class> class Has, class... Ps>
constexpr std::size_t count_before(std::size_t count) {
  const std::size_t has[] = {Has<Ps>::value..., 0};
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) n += has[i];
  return n;
}
template <class P>
struct AccessorCount : std::integral_constant<std::size_t, accessor_count<P>> {};
template <class P>
struct HasSlot : std::bool_constant<has_slot<P>> {};

template <class... As, std::size_t... I>
Fields<As...> make_fields(const PhysicalArgument* arguments, TypeList<As...>,
                          std::index_sequence<I...>) {
  return Fields<As...>{As{arguments[I]}...};
}

template <class P, std::size_t AccessorIndex, std::size_t SlotIndex, class Values>
decltype(auto) make_parameter(const TaskFrame& frame, const Values* values, Gang& gang) {
  using D = std::remove_cvref_t<P>;
  if constexpr (is_accessor<P>) {
    return D{frame.arguments[AccessorIndex]};
  } else if constexpr (accessor_count<P> > 0) {
    return make_fields(&frame.arguments[AccessorIndex], typename AccessorsOf<D>::type{},
                       std::make_index_sequence<accessor_count<P>>{});
  } else if constexpr (is_list<D>) {
    const ListPlace place = std::get<SlotIndex>(*values);
    return D{frame.arguments.subspan(place.first, place.count)};
  } else if constexpr (is_point<D>) {
    return restore_dimension<D::dim>(frame.point);
  } else if constexpr (std::is_same_v<D, Context>) {
    return (frame.context());
  } else if constexpr (std::is_same_v<D, Gang>) {
    return (gang);
  } else {
    return slot_value<D>(std::get<SlotIndex>(*values), frame);
  }
}

/// Runs the body f for a frame.
template <class F, class... Ps, std::size_t... I>
void run_body(const F& f, const TaskFrame& frame, TypeList<Ps...>, std::index_sequence<I...>) {
  using Values = typename ValueSlots<TypeList<Ps...>>::type;
  using Result = typename Signature<F>::result;
  const auto* values = static_cast<const Values*>(frame.values);  // null if there are none
  Gang gang{*frame.source};
  auto call = [&]() -> Result {
    return f(
        make_parameter<Ps, count_before<AccessorCount, Ps...>(I), count_before<HasSlot, Ps...>(I)>(
            frame, values, gang)...);
  };
  if constexpr (std::is_void_v<Result>) call();
  else if (frame.result != nullptr) ::new (frame.result) Result(call());
  else static_cast<void>(call());
}
template <class F, class... Ps>
void run_body(const F& f, const TaskFrame& frame, TypeList<Ps...> parameters) {
  run_body(f, frame, parameters, std::index_sequence_for<Ps...>{});
}

template <class... Ps>
constexpr bool mentions_context(TypeList<Ps...>) {
  return (std::is_same_v<std::remove_cvref_t<Ps>, Context> || ...);
}

template <class... Ps>
constexpr bool mentions_gang(TypeList<Ps...>) {
  return (std::is_same_v<std::remove_cvref_t<Ps>, Gang> || ...);
}

/// A body as the run-time API wants it.
template <class F>
TaskVariant make_variant(ProcessorKind kind, F f) {
  using Parameters = typename Signature<F>::parameters;
  TaskVariant variant;
  variant.kind = kind;
  variant.may_launch = mentions_context(Parameters{});
  if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>)
    variant.plain = [](const void* frame) {
      run_body(F{}, *static_cast<const TaskFrame*>(frame), Parameters{});
    };
  variant.body = [f = std::move(f)](const TaskFrame& frame) { run_body(f, frame, Parameters{}); };
  return variant;
}

template <class R>
ResultType result_type() {
  if constexpr (std::is_void_v<R>) {
    return {};
  } else {
    ResultType type{sizeof(R), alignof(R), nullptr};
    if constexpr (!std::is_trivially_destructible_v<R>) {
      type.destroy = [](void* value) { static_cast<R*>(value)->~R(); };
      if constexpr (Packable<R>) type.packing = &value_packing<R>;
    }
    return type;
  }
}

}  // namespace detail

/// A body for one kind of processor: `Task t{"t", on<ProcessorKind::gpu>(f), on<ProcessorKind::cpu>(g)}`.
template <ProcessorKind Kind, class F>
struct VariantOf {
  F f;
};
template <ProcessorKind Kind, class F>
VariantOf<Kind, F> on(F f) {
  return {std::move(f)};
}

/// A task of the typed API; see the top of this file. Objects are usually global constants. F is the
/// type of the (first) body.
template <class F>
class Task : public DynamicTask {
 public:
  using parameters = typename detail::Signature<F>::parameters;
  using result = typename detail::Signature<F>::result;
  using values = typename detail::ValueSlots<parameters>::type;
  static_assert(!std::is_reference_v<result>,
                "a task returns a value: references do not outlive it");
  static_assert(
      detail::can_all_be_given(parameters{}),
      "a task's body takes its arguments by value or const&: what it changes is in regions");

  Task(std::string name, F body)
      : DynamicTask(std::move(name),
                    {detail::make_variant(detail::mentions_gang(parameters{}) ? ProcessorKind::gang
                                                                              : ProcessorKind::cpu,
                                          std::move(body))},
                    detail::result_type<result>()) {}

  explicit Task(F body) : Task(std::string(), std::move(body)) {
    static_assert(sizeof(F) == 0, "a task is made of its name and its body: Task t{\"t\", body}");
  }

  template <ProcessorKind K, ProcessorKind... Ks, class... Fs>
  Task(std::string name, VariantOf<K, F> first, VariantOf<Ks, Fs>... more)
      : DynamicTask(std::move(name),
                    {detail::make_variant(K, std::move(first.f)),
                     detail::make_variant(Ks, std::move(more.f))...},
                    detail::result_type<result>()) {
    static_assert(
        (std::is_same_v<
             typename detail::ValueSlots<typename detail::Signature<Fs>::parameters>::type,
             values> &&
         ...),
        "all variants of a task take the same arguments");
    static_assert(
        ((std::is_same_v<
              typename detail::Accessors<typename detail::Signature<Fs>::parameters>::type,
              typename detail::Accessors<parameters>::type> &&
          std::is_same_v<
              typename detail::ListAccessors<typename detail::Signature<Fs>::parameters>::type,
              typename detail::ListAccessors<parameters>::type>)&&...),
        "all variants of a task take the same accessors: they are the privileges of its launches");
    static_assert((std::is_same_v<typename detail::Signature<Fs>::result, result> && ...),
                  "all variants of a task return the same type");
  }

  /// The same task with advice for one launch: `ctx.launch(small.with({.inline_if_ready = true}), ...)`.
  struct Hinted {
    const Task& task;
    LaunchHints hints;
  };
  [[nodiscard]] Hinted with(LaunchHints hints) const { return {*this, hints}; }
};

template <class F>
Task(const char*, F) -> Task<F>;
template <class F>
Task(std::string, F) -> Task<F>;
template <class F>
Task(F) -> Task<F>;
template <ProcessorKind K, class F, class... More>
Task(const char*, VariantOf<K, F>, More...) -> Task<F>;
template <ProcessorKind K, class F>
Task(const char*, VariantOf<K, F>) -> Task<F>;

}  // namespace refrain
