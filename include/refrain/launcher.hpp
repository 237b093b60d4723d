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
#define REFRAIN_GIVE(x) static_cast<decltype(x)>(x)
  auto launch(const auto& task, Where where = Where::current()) { return typed(task, where); }
  auto launch(const auto& task, auto&& a, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a));
  }
  auto launch(const auto& task, auto&& a, auto&& b, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d,
              Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d, auto&& e,
              Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d),
                 REFRAIN_GIVE(e));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d, auto&& e, auto&& f,
              Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d),
                 REFRAIN_GIVE(e), REFRAIN_GIVE(f));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d, auto&& e, auto&& f,
              auto&& g, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d),
                 REFRAIN_GIVE(e), REFRAIN_GIVE(f), REFRAIN_GIVE(g));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d, auto&& e, auto&& f,
              auto&& g, auto&& h, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d),
                 REFRAIN_GIVE(e), REFRAIN_GIVE(f), REFRAIN_GIVE(g), REFRAIN_GIVE(h));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d, auto&& e, auto&& f,
              auto&& g, auto&& h, auto&& i, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d),
                 REFRAIN_GIVE(e), REFRAIN_GIVE(f), REFRAIN_GIVE(g), REFRAIN_GIVE(h),
                 REFRAIN_GIVE(i));
  }
  auto launch(const auto& task, auto&& a, auto&& b, auto&& c, auto&& d, auto&& e, auto&& f,
              auto&& g, auto&& h, auto&& i, auto&& j, Where where = Where::current()) {
    return typed(task, where, REFRAIN_GIVE(a), REFRAIN_GIVE(b), REFRAIN_GIVE(c), REFRAIN_GIVE(d),
                 REFRAIN_GIVE(e), REFRAIN_GIVE(f), REFRAIN_GIVE(g), REFRAIN_GIVE(h),
                 REFRAIN_GIVE(i), REFRAIN_GIVE(j));
  }
#undef REFRAIN_GIVE
  template <class K>
  auto launch(const K&, auto&&, auto&&, auto&&, auto&&, auto&&, auto&&, auto&&, auto&&, auto&&,
              auto&&, auto&&, auto&&...) {
    static_assert(
        sizeof(K) == 0,
        "a launch takes at most ten arguments, its domain included: put by-value arguments "
        "together in a struct");
  }

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
    FutureArguments<std::tuple_size_v<Values>> futures;
    futures.template add_all<Group, Parameters>(args...);
    LaunchRequest request(plain_task(task), where);
    request.domain = domain;
    Values values = take_values<Values, Parameters>(request, std::forward<Args>(args)...);
    request.requirements = requirements;
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
