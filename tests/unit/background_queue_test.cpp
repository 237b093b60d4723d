// The queue of jobs, on one thread.

#include "exec/background.hpp"

#include <gtest/gtest.h>

namespace refrain::exec::background_queue_test {
namespace {

struct Nothing final : BackgroundJob {
  void run() noexcept override {}
};

TEST(BackgroundQueue, TheOldestFirst) {
  BackgroundQueue queue;
  EXPECT_FALSE(queue.any());
  EXPECT_EQ(queue.take(), nullptr);
  const auto first = std::make_shared<Nothing>();
  const auto second = std::make_shared<Nothing>();
  queue.post(first);
  queue.post(second);
  EXPECT_TRUE(queue.any());
  EXPECT_EQ(queue.take(), first);
  EXPECT_EQ(queue.take(), second);
  EXPECT_FALSE(queue.any());
  EXPECT_EQ(first.use_count(), 1) << "who has taken it holds it";
}

TEST(BackgroundQueue, IsLateUntilItIsEmpty) {
  BackgroundQueue queue;
  queue.hurry();
  EXPECT_FALSE(queue.late()) << "nothing was posted";
  queue.post(std::make_shared<Nothing>());
  EXPECT_FALSE(queue.late());
  queue.hurry();
  EXPECT_TRUE(queue.late());
  queue.post(std::make_shared<Nothing>());
  queue.take();
  EXPECT_TRUE(queue.late());
  queue.take();
  EXPECT_FALSE(queue.late());
  queue.post(std::make_shared<Nothing>());
  EXPECT_FALSE(queue.late());
}

TEST(BackgroundQueue, LetsGoOfWhatIsDropped) {
  BackgroundQueue queue;
  const auto job = std::make_shared<Nothing>();
  queue.post(job);
  queue.hurry();
  queue.drop();
  EXPECT_EQ(job.use_count(), 1);
  EXPECT_FALSE(queue.any());
  EXPECT_FALSE(queue.late());
  EXPECT_EQ(queue.take(), nullptr);
}

}  // namespace
}  // namespace refrain::exec::background_queue_test
