// Tasks that wait for their children, too deep for the stack.

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "support/expect_error.hpp"

namespace refrain::test::depth_test {
namespace {

void nest(Context& context, long levels) {
  static const Task deep{"deep", [](Context& ctx, long left) { nest(ctx, left); }};
  if (levels == 0) return;
  context.launch(deep, levels - 1);
  context.fence();
}

// With it nearly all of a megabyte is gone before the program begins, and with more stack it ends the process
// itself when calls nest this deeply.
#if defined(__SANITIZE_THREAD__)
#define REFRAIN_NOT_WITH_TSAN() \
  GTEST_SKIP() << "ThreadSanitizer does not stand stacks this small or calls this deep"
#else
#define REFRAIN_NOT_WITH_TSAN() static_cast<void>(0)
#endif

/// Runs f on a thread with a stack of a megabyte.
void on_small_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
  const auto start = [](void* call) -> void* {
    (*static_cast<const std::function<void()>*>(call))();
    return nullptr;
  };
  ASSERT_EQ(
      pthread_create(&thread, &attributes, start, const_cast<void*>(static_cast<const void*>(&f))),
      0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(DepthErrors, TasksTooDeepForTheStack) {
  REFRAIN_NOT_WITH_TSAN();
  on_small_stack([] {
    expect_error<TaskFailed>(small_machine("emulated:cpus=1", 0),
                             {"task 'deep' launched at depth_test.cpp:", "tasks in between",
                              "no context", "tasks deep", "the stack", "ulimit"},
                             [](Context& context) { nest(context, 50'000); });
  });
}

// Launched inline, the children's bodies are on the launcher's stack, too.
TEST(DepthErrors, InlineTasksTooDeepForTheStack) {
  REFRAIN_NOT_WITH_TSAN();
  static const std::function<void(Context&, long)> nest_inline = [](Context& context, long levels) {
    static const Task deep{"deep", [](Context& ctx, long left) { nest_inline(ctx, left); }};
    if (levels > 0) context.launch(deep.with({.inline_if_ready = true}), levels - 1);
  };
  on_small_stack([] {
    expect_error<TaskFailed>(small_machine("emulated:cpus=1", 0),
                             {"task 'deep' launched at", "tasks deep", "the stack"},
                             [](Context& context) { nest_inline(context, 50'000); });
  });
}

TEST(DepthErrors, AHundredAreFine) {
  REFRAIN_NOT_WITH_TSAN();
  on_small_stack([] {
    Runtime runtime(small_machine("emulated:cpus=1", 0));
    runtime.run([](Context& context) { nest(context, 100); });
  });
}

}  // namespace
}  // namespace refrain::test::depth_test
