#pragma once
// How a typed launch becomes a LaunchRequest: matching a task's parameters with a launch's arguments at
// compile time, with messages a person understands.

#include <array>
#include <tuple>
#include <vector>

#include "refrain/task.hpp"

namespace refrain::detail {

template <class List>
struct CountExplicit;
template <class... Ps>
struct CountExplicit<TypeList<Ps...>> {
  static constexpr std::size_t arguments = (std::size_t{0} + ... + (is_implicit<Ps> ? 0 : 1));
};

template <class List, class... Done>
struct Explicit;
template <class... Done>
struct Explicit<TypeList<>, Done...> {
  using type = std::tuple<std::type_identity<Done>...>;
};
template <class P, class... Rest, class... Done>
struct Explicit<TypeList<P, Rest...>, Done...>
    : std::conditional_t<is_implicit<P>, Explicit<TypeList<Rest...>, Done...>,
                         Explicit<TypeList<Rest...>, Done..., P>> {};

template <class T>
inline constexpr bool is_region_argument = false;
template <class T, int N>
inline constexpr bool is_region_argument<RegionArgument<T, N>> = true;
template <class T>
inline constexpr bool is_partition_argument = false;
template <class T, int N>
inline constexpr bool is_partition_argument<PartitionArgument<T, N>> = true;

template <class Accessor>
struct ReductionOf {
  static constexpr const ReductionOp* op = nullptr;
};
template <class Op, class T, int N>
struct ReductionOf<Reduce<Op, T, N>> {
  static constexpr const ReductionOp* op = &reduction_op<Op, T>;
};

template <class A>
struct ArgumentShape;
template <class T, int N>
struct ArgumentShape<RegionArgument<T, N>> {
  using value = T;
  static constexpr int dim = N;
};
template <class T, int N>
struct ArgumentShape<PartitionArgument<T, N>> {
  using value = T;
  static constexpr int dim = N;
};

/// What a launch request says of a region argument.
template <bool Group, class Accessor, class Argument>
Requirement requirement_of(const Argument& argument) {
  static_assert(is_region_argument<Argument> || is_partition_argument<Argument>,
                "this parameter of the task is an accessor (Read, Write, ReadWrite, Reduce): pass "
                "region[field] or partition[field] for it");
  if constexpr (is_region_argument<Argument> || is_partition_argument<Argument>) {
    static_assert(
        std::is_same_v<typename Accessor::value_type, typename ArgumentShape<Argument>::value>,
        "the field's type is not the type in the task's accessor");
    static_assert(Accessor::dim == ArgumentShape<Argument>::dim,
                  "the region's number of dimensions is not the one in the task's accessor");
    static_assert(
        Group || !is_partition_argument<Argument>,
        "a partition is an argument of a group launch: give a domain first, as in "
        "launch(task, domain, partition[field]), or pass one piece, partition(colour)[field]");
    constexpr const ReductionOp* op = ReductionOf<Accessor>::op;
    if constexpr (is_partition_argument<Argument>)
      return Requirement::of(argument.partition, argument.field, Accessor::privilege, op,
                             argument.projection, argument.is_relaxed);
    else
      return Requirement::of(argument.region, argument.field, Accessor::privilege, op,
                             argument.is_relaxed);
  } else {
    return {};
  }
}

/// Calls f(point) for every point of the launch's domain, in order. What it throws is told with the launch,
/// whose by-value argument number `value` it makes.
void for_each_launch_point(const LaunchRequest& launch, std::size_t value,
                           const std::function<void(const Point<3>&)>& f);

/// The dimensions of the points that f is called with: 1 or 2, if it takes such a point, or else 3.
template <class F>
inline constexpr int asked_dim = std::is_invocable_v<F&, Point<1>>   ? 1
                                 : std::is_invocable_v<F&, Point<2>> ? 2
                                                                     : 3;
template <class F>
decltype(auto) ask_at(F& f, const Point<3>& point) {
  return f(restore_dimension<asked_dim<F>>(point));
}

template <class T, class Argument>
ValueSlot<T> make_slot(Argument&& argument, const LaunchRequest& launch, std::size_t number) {
  using D = std::remove_cvref_t<Argument>;
  if constexpr (std::is_same_v<D, Future<T>>) {
    return ValueSlot<T>{std::in_place_index<1>, std::forward<Argument>(argument)};
  } else if constexpr (is_per_point<D>) {
    std::vector<PointValue<T>> values;
    if (launch.domain != nullptr)
      for_each_launch_point(launch, number, [&](const Point<3>& q) {
        values.push_back({static_cast<T>(ask_at(argument.f, q))});
      });
    return ValueSlot<T>{std::in_place_index<2>, std::move(values)};
  } else {
    constexpr bool converts = std::is_convertible_v<Argument, T>;
    static_assert(converts || !std::is_base_of_v<AnyFuture, D>,
                  "a future stands for a by-value parameter of exactly its type, a FutureMap for "
                  "none (ctx.reduce makes one future of it)");
    static_assert(converts || std::is_base_of_v<AnyFuture, D>,
                  "this argument of the launch does not convert to the task's by-value parameter");
    if constexpr (converts)
      return ValueSlot<T>{std::in_place_index<0>, static_cast<T>(std::forward<Argument>(argument))};
  }
}

/// How many of a launch's first arguments are by-value arguments.
template <class Parameters, std::size_t... I>
constexpr std::size_t count_values(std::index_sequence<I...>) {
  return (std::size_t{0} + ... +
          (is_value<typename std::tuple_element_t<I, Parameters>::type> ? 1 : 0));
}

/// In a handler: what the type of a by-value argument throws when it is copied or moved, told with the launch.
/// Refrain's own errors pass as they are.
[[noreturn]] void fail_values(const LaunchRequest& launch);

/// How many of a launch's first arguments are lists of fields.
template <class Parameters, std::size_t... I>
constexpr std::size_t count_lists(std::index_sequence<I...>) {
  return (std::size_t{0} + ... +
          (is_list<typename std::tuple_element_t<I, Parameters>::type> ? 1 : 0));
}
template <class Parameters>
inline constexpr std::size_t list_count =
    count_lists<Parameters>(std::make_index_sequence<std::tuple_size_v<Parameters>>{});

/// The by-value arguments, in order, as the tuple of slots that the task's body expects. `lists`: a place for each list.
template <class Values, class Parameters, class... Args>
Values take_values(const LaunchRequest& launch, const ListPlace* lists, Args&&... args) {
  auto one = [&]<class P, class A>(std::type_identity<P>, std::size_t number, std::size_t list,
                                   A&& argument) {
    if constexpr (is_list<P>) return std::tuple(lists[list]);
    else if constexpr (is_value<P>)
      return std::tuple(
          make_slot<std::remove_cvref_t<P>>(std::forward<A>(argument), launch, number));
    else return std::tuple<>();
  };
  try {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Values(std::tuple_cat(one(std::tuple_element_t<I, Parameters>{},
                                       count_values<Parameters>(std::make_index_sequence<I>{}),
                                       count_lists<Parameters>(std::make_index_sequence<I>{}),
                                       std::forward<Args>(args))...));
    }
    (std::index_sequence_for<Args...>{});
  } catch (...) { fail_values(launch); }
}

/// Of an accessor: its parameter, and which of that parameter's accessors it is.
struct AccessorPlace {
  std::size_t parameter = 0, field = 0;
};
template <class... Ps>
constexpr auto accessor_places(std::type_identity<std::tuple<std::type_identity<Ps>...>>) {
  constexpr std::size_t counts[] = {accessor_count<Ps>..., 0};
  std::array<AccessorPlace, (std::size_t{0} + ... + accessor_count<Ps>)> places{};
  for (std::size_t parameter = 0, found = 0; parameter < sizeof...(Ps); ++parameter)
    for (std::size_t field = 0; field < counts[parameter]; ++field)
      places[found++] = {parameter, field};
  return places;
}

/// What a launch request says of one field of an argument.
template <bool Group, class P, std::size_t I, class Argument>
Requirement requirement_of_field(const Argument& argument) {
  if constexpr (is_accessor<P>) {
    return requirement_of<Group, std::remove_cvref_t<P>>(argument);
  } else {
    using Accessors = std::remove_cvref_t<P>;
    constexpr bool several = requires { std::tuple_size<Argument>::value; };
    static_assert(several,
                  "this parameter of the task has several fields (Fields<...>): pass "
                  "region[fields(a, b)] or partition[fields(a, b)] for it");
    if constexpr (several) {
      constexpr bool as_many = std::tuple_size_v<Argument> == std::tuple_size_v<Accessors>;
      static_assert(as_many,
                    "this argument has not as many fields as the task's parameter, Fields<...>");
      if constexpr (as_many)
        return requirement_of<Group, std::tuple_element_t<I, Accessors>>(std::get<I>(argument));
    }
    return {};
  }
}

/// What the launch request says of the region arguments, in order.
template <bool Group, class Parameters, class... Args>
auto requirements_of(const Args&... args) {
  constexpr auto places = accessor_places(std::type_identity<Parameters>{});
  const std::tuple<const Args&...> arguments(args...);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Requirement, sizeof...(I)>{
        requirement_of_field<Group,
                             typename std::tuple_element_t<places[I].parameter, Parameters>::type,
                             places[I].field>(std::get<places[I].parameter>(arguments))...};
  }
  (std::make_index_sequence<places.size()>{});
}

/// The requirements of a launch with lists of fields, whose places are known when it runs.
template <std::size_t Lists>
struct ListedRequirements {
  std::vector<Requirement> all;
  std::array<ListPlace, Lists> places;
};
/// After the requirements of accessors and Fields, whose places are constants: those of lists.
template <bool Group, class Parameters, std::size_t Fixed, class... Args>
auto add_lists(const std::array<Requirement, Fixed>& fixed, const Args&... args) {
  ListedRequirements<list_count<Parameters>> listed{{fixed.begin(), fixed.end()}, {}};
  std::size_t list = 0;
  const auto add = [&]<class P, class A>(std::type_identity<P>, const A& argument) {
    if constexpr (is_list<P>) {
      constexpr bool several = requires { argument[0], argument.size(); };
      static_assert(several,
                    "this parameter of the task is a list of fields (FieldList<...>): pass "
                    "region[list] or partition[list] with a std::vector of fields for it");
      if constexpr (several) {
        listed.places[list++] = {static_cast<std::uint32_t>(listed.all.size()),
                                 static_cast<std::uint32_t>(argument.size())};
        for (const auto& each : argument)
          listed.all.push_back(
              requirement_of<Group, typename std::remove_cvref_t<P>::accessor>(each));
      }
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(std::tuple_element_t<I, Parameters>{}, args), ...);
  }
  (std::index_sequence_for<Args...>{});
  return listed;
}

/// The futures among a launch's arguments, in order; at most N.
template <std::size_t N>
struct FutureArguments {
  std::array<FutureState*, N> states;
  std::size_t count = 0;

  template <bool Group, class Parameters, class... Args>
  void add_all(const Args&... args) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add<Group, typename std::tuple_element_t<I, Parameters>::type>(args), ...);
    }
    (std::index_sequence_for<Args...>{});
  }

 private:
  template <bool Group, class P, class A>
  void add(const A& argument) {
    if constexpr (!is_value<P>) {
      return;
    } else if constexpr (is_per_point<A>) {
      static_assert(Group,
                    "per_point gives an argument for each point of a group launch: a single "
                    "launch takes the value itself");
    } else if constexpr (std::is_same_v<A, Future<std::remove_cvref_t<P>>>) {
      states[count++] = argument.state();
    }
  }
};

template <class T>
const T& plain_task(const T& task) {
  return task;
}
template <class T>
  requires requires(const T& t) {
    t.hints;
    t.task;
  }
const auto& plain_task(const T& hinted) { return hinted.task; }
/// The type of the task, without hints.
template <class T>
using PlainTask = std::remove_cvref_t<decltype(plain_task(std::declval<const T&>()))>;
/// What can be launched: a task, with or without hints.
template <class T>
inline constexpr bool is_task = requires {
  typename PlainTask<T>::parameters;
  typename PlainTask<T>::values;
};
template <class T>
LaunchHints hints_of(const T& task) {
  if constexpr (requires { task.hints; }) return task.hints;
  else return {};
}

}  // namespace refrain::detail
