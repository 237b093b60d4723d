#pragma once
// Context::launch in all its forms: typed launches, once or for each point of a domain, and the launch of
// the run-time API that they end in.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "refrain/launch.hpp"

namespace refrain {

namespace runtime {
class ContextImpl;
}

namespace detail {

class Launcher {
 public:
  explicit Launcher(runtime::ContextImpl& impl) : impl_(impl) {}

  /// A launch of the run-time API. The future is valid when the task returns something and
  /// request.wants_future is set (a FutureMap's state for a group).
  AnyFuture launch(const LaunchRequest& request);

  // The source line of a launch comes from a defaulted last parameter, which cannot follow a parameter
  // pack; hence one overload per number of arguments.
#define REFRAIN_PARAMETER(x) auto&& x
#define REFRAIN_GIVE(x) static_cast<decltype(x)>(x)
#define REFRAIN_EACH_1(F) F(a1)
#define REFRAIN_EACH_2(F) REFRAIN_EACH_1(F), F(a2)
#define REFRAIN_EACH_3(F) REFRAIN_EACH_2(F), F(a3)
#define REFRAIN_EACH_4(F) REFRAIN_EACH_3(F), F(a4)
#define REFRAIN_EACH_5(F) REFRAIN_EACH_4(F), F(a5)
#define REFRAIN_EACH_6(F) REFRAIN_EACH_5(F), F(a6)
#define REFRAIN_EACH_7(F) REFRAIN_EACH_6(F), F(a7)
#define REFRAIN_EACH_8(F) REFRAIN_EACH_7(F), F(a8)
#define REFRAIN_EACH_9(F) REFRAIN_EACH_8(F), F(a9)
#define REFRAIN_EACH_10(F) REFRAIN_EACH_9(F), F(a10)
#define REFRAIN_EACH_11(F) REFRAIN_EACH_10(F), F(a11)
#define REFRAIN_EACH_12(F) REFRAIN_EACH_11(F), F(a12)
#define REFRAIN_EACH_13(F) REFRAIN_EACH_12(F), F(a13)
#define REFRAIN_EACH_14(F) REFRAIN_EACH_13(F), F(a14)
#define REFRAIN_EACH_15(F) REFRAIN_EACH_14(F), F(a15)
#define REFRAIN_EACH_16(F) REFRAIN_EACH_15(F), F(a16)
#define REFRAIN_EACH_17(F) REFRAIN_EACH_16(F), F(a17)
#define REFRAIN_EACH_18(F) REFRAIN_EACH_17(F), F(a18)
#define REFRAIN_EACH_19(F) REFRAIN_EACH_18(F), F(a19)
#define REFRAIN_EACH_20(F) REFRAIN_EACH_19(F), F(a20)
#define REFRAIN_LAUNCH(EACH)                                                               \
  auto launch(const auto& task, EACH(REFRAIN_PARAMETER), Where where = Where::current()) { \
    return typed(task, where, EACH(REFRAIN_GIVE));                                         \
  }
  auto launch(const auto& task, Where where = Where::current()) { return typed(task, where); }
  REFRAIN_LAUNCH(REFRAIN_EACH_1)
  REFRAIN_LAUNCH(REFRAIN_EACH_2)
  REFRAIN_LAUNCH(REFRAIN_EACH_3)
  REFRAIN_LAUNCH(REFRAIN_EACH_4)
  REFRAIN_LAUNCH(REFRAIN_EACH_5)
  REFRAIN_LAUNCH(REFRAIN_EACH_6)
  REFRAIN_LAUNCH(REFRAIN_EACH_7)
  REFRAIN_LAUNCH(REFRAIN_EACH_8)
  REFRAIN_LAUNCH(REFRAIN_EACH_9)
  REFRAIN_LAUNCH(REFRAIN_EACH_10)
  REFRAIN_LAUNCH(REFRAIN_EACH_11)
  REFRAIN_LAUNCH(REFRAIN_EACH_12)
  REFRAIN_LAUNCH(REFRAIN_EACH_13)
  REFRAIN_LAUNCH(REFRAIN_EACH_14)
  REFRAIN_LAUNCH(REFRAIN_EACH_15)
  REFRAIN_LAUNCH(REFRAIN_EACH_16)
  REFRAIN_LAUNCH(REFRAIN_EACH_17)
  REFRAIN_LAUNCH(REFRAIN_EACH_18)
  REFRAIN_LAUNCH(REFRAIN_EACH_19)
  REFRAIN_LAUNCH(REFRAIN_EACH_20)
  template <class K, class... Args>
    requires(sizeof...(Args) > 20)
  auto launch(const K&, Args&&...) {
    static_assert(
        sizeof(K) == 0,
        "a launch takes at most twenty arguments, its domain included: put fields of one region "
        "together (fields(a, b) and Fields<...>), and by-value arguments in a struct");
  }
#undef REFRAIN_LAUNCH
#undef REFRAIN_EACH_20
#undef REFRAIN_EACH_19
#undef REFRAIN_EACH_18
#undef REFRAIN_EACH_17
#undef REFRAIN_EACH_16
#undef REFRAIN_EACH_15
#undef REFRAIN_EACH_14
#undef REFRAIN_EACH_13
#undef REFRAIN_EACH_12
#undef REFRAIN_EACH_11
#undef REFRAIN_EACH_10
#undef REFRAIN_EACH_9
#undef REFRAIN_EACH_8
#undef REFRAIN_EACH_7
#undef REFRAIN_EACH_6
#undef REFRAIN_EACH_5
#undef REFRAIN_EACH_4
#undef REFRAIN_EACH_3
#undef REFRAIN_EACH_2
#undef REFRAIN_EACH_1
#undef REFRAIN_GIVE
#undef REFRAIN_PARAMETER

 protected:
  runtime::ContextImpl& impl_;

 private:
  template <class K, class... Args>
  auto typed(const K& task, const Where& where, Args&&... args) {
    static_assert(is_task<K>,
                  "what is launched is no task: make a Task of the lambda, where it stays, such as "
                  "const Task scale{\"scale\", [](ReadWrite<double> x) { ... }};");
    if constexpr (is_task<K>) return typed_task(task, where, std::forward<Args>(args)...);
  }

  template <class K, class... Args>
  auto typed_task(const K& task, const Where& where, Args&&... args) {
    using Count = CountExplicit<typename PlainTask<K>::parameters>;
    static_assert(sizeof...(Args) == Count::arguments || sizeof...(Args) == Count::arguments + 1,
                  "wrong number of arguments: a launch takes one per parameter of the task's body "
                  "(Point, Context& and Gang& are provided), after a launch domain for a group");
    if constexpr (sizeof...(Args) == Count::arguments) {
      return issue<false>(task, where, nullptr, std::forward<Args>(args)...);
    } else if constexpr (sizeof...(Args) == Count::arguments + 1) {
      return group(task, where, std::forward<Args>(args)...);
    }
  }

  template <class K, class D, class... Args>
  auto group(const K& task, const Where& where, const D& domain, Args&&... args) {
    static_assert(
        std::is_constructible_v<LaunchDomain, const D&>,
        "the first argument of a group launch is its domain: a number of points, a Rect or "
        "an IndexSpace");
    if constexpr (std::is_constructible_v<LaunchDomain, const D&>) {
      const LaunchDomain points(domain);
      return issue<true>(task, where, &points, std::forward<Args>(args)...);
    }
  }

  template <bool Group, class K, class... Args>
  auto issue(const K& task, const Where& where, const LaunchDomain* domain, Args&&... args) {
    using Parameters = typename Explicit<typename PlainTask<K>::parameters>::type;
    using Values = typename PlainTask<K>::values;
    using Result = typename PlainTask<K>::result;

    const auto requirements = requirements_of<Group, Parameters>(args...);
    [[maybe_unused]] const auto listed = [&] {
      if constexpr (list_count < Parameters >> 0)
        return add_lists<Group, Parameters>(requirements, args...);
      else return ListedRequirements<0>{};
    }();
    FutureArguments<std::tuple_size_v<Values>> futures;
    futures.template add_all<Group, Parameters>(args...);
    LaunchRequest request(plain_task(task), where);
    request.domain = domain;
    Values values =
        take_values<Values, Parameters>(request, listed.places.data(), std::forward<Args>(args)...);
    request.requirements = requirements;
    if constexpr (list_count < Parameters >> 0) request.requirements = listed.all;
    request.values = &values;
    request.value_ops = std::tuple_size_v<Values> > 0 ? &argument_ops<Values> : nullptr;
    request.futures = {futures.states.data(), futures.count};
    request.hints = hints_of(task);
    request.wants_future = !std::is_void_v<Result>;
    if constexpr (std::is_void_v<Result>) {
      launch(request);
    } else {
      return std::conditional_t<Group, FutureMap<Result>, Future<Result>>(launch(request));
    }
  }
};

}  // namespace detail

}  // namespace refrain
