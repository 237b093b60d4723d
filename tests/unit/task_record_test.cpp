// Registered tasks: names, slots, variants.

#include "launch/task_record.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "refrain/error.hpp"
#include "refrain/task.hpp"

namespace refrain::detail::task_record_test {
namespace {

void nothing(const TaskFrame&) {}

TEST(TaskRecord, SlotsCountTasksOfOneName) {
  auto a = std::make_unique<DynamicTask>("slots", nothing);
  auto b = std::make_unique<DynamicTask>("slots", nothing);
  auto c = std::make_unique<DynamicTask>("slots", nothing);
  const DynamicTask other("slots of another name", nothing);
  EXPECT_EQ(a->record()->slot(), 0u);
  EXPECT_EQ(b->record()->slot(), 1u);
  EXPECT_EQ(c->record()->slot(), 2u);
  EXPECT_EQ(other.record()->slot(), 0u);
  EXPECT_NE(a->record()->id(), b->record()->id());
  EXPECT_NE(a->record()->id(), other.record()->id());
  const std::uint64_t id = b->record()->id();
  a.reset();
  b.reset();
  const DynamicTask d("slots", nothing), e("slots", nothing), f("slots", nothing);
  EXPECT_EQ(d.record()->slot(), 1u);  // the slot freed last
  EXPECT_EQ(d.record()->id(), id);
  EXPECT_EQ(e.record()->slot(), 0u);
  EXPECT_EQ(f.record()->slot(), 3u);
}

TEST(TaskRecord, WorldsNameTheirTasksAlike) {
  const DynamicTask before("worlds", nothing);
  const auto one = TaskSlots::beside_process(), two = TaskSlots::beside_process();
  EXPECT_EQ(one->take("worlds"), 1u);
  EXPECT_EQ(two->take("worlds"), 1u);
  EXPECT_EQ(DynamicTask("worlds", nothing).record()->slot(), 1u);
  one->give_back("worlds", 1);
  EXPECT_EQ(two->take("worlds"), 2u);
  EXPECT_EQ(one->take("worlds"), 1u);
}

TEST(TaskRecord, ALaunchMayKeepWhatItNeeds) {
  std::shared_ptr<const TaskRecord> kept;
  {
    const DynamicTask task("kept", nothing);
    kept = task.record().get()->shared_from_this();
  }
  EXPECT_EQ(kept->name(), "kept");
  EXPECT_EQ(DynamicTask("kept", nothing).record()->slot(), 1u);
}

TEST(TaskRecord, VariantsByKind) {
  const DynamicTask task("variants", {{ProcessorKind::gpu, nothing}, {ProcessorKind::cpu, nothing}},
                         {8, 8, nullptr});
  const TaskRecord& record = *task.record();
  EXPECT_EQ(record.variant(ProcessorKind::gpu), &record.variants()[0]);
  EXPECT_EQ(record.variant(ProcessorKind::cpu), &record.variants()[1]);
  EXPECT_EQ(record.variant(ProcessorKind::gang), nullptr);
  EXPECT_EQ(record.variants().size(), 2u);
  EXPECT_EQ(record.result().size, 8u);
  EXPECT_EQ(task.name(), "variants");
}

TEST(TaskRecord, TypedTasksAreRegisteredAlike) {
  const Task task{"typed", [](double x) { return x + 1; }};
  EXPECT_EQ(task.record()->name(), "typed");
  EXPECT_NE(task.record()->variant(ProcessorKind::cpu), nullptr);
  EXPECT_EQ(task.record()->result().size, sizeof(double));
}

TEST(TaskRecord, BadTasks) {
  EXPECT_THROW(DynamicTask("none", std::vector<TaskVariant>{}), UsageError);
  EXPECT_THROW(DynamicTask("empty", std::function<void(const TaskFrame&)>{}), UsageError);
  EXPECT_THROW(DynamicTask("twice", {{ProcessorKind::cpu, nothing}, {ProcessorKind::cpu, nothing}}),
               UsageError);
}

}  // namespace
}  // namespace refrain::detail::task_record_test
