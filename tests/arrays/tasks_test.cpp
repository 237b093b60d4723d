// The tasks that arrays become, as mapping files and reports see them: what they are called, and where they run.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run.hpp"

namespace refrain::test::tasks_test {
namespace {

using namespace arrays;
using arrays::Array;

/// What was launched: in its order, without those that were launched just before.
struct Launched {
  std::vector<std::string> names;
  std::set<ProcessorKind> kinds;
};

/// The default rules' answers, noted.
class Notes final : public Mapper {
 public:
  explicit Notes(Launched& launched) : launched_(launched) {}
  [[nodiscard]] std::string_view name() const override { return "notes"; }
  void map(const MappingInput& input, MappingOutput& output) override {
    if (launched_.names.empty() || launched_.names.back() != input.task)
      launched_.names.emplace_back(input.task);
    launched_.kinds.insert(input.machine->processor(output.processor).kind);
  }

 private:
  Launched& launched_;
};

Launched launched_by(const std::function<void(Session&)>& program,
                     const std::string& machine = "emulated:cpus=4") {
  Launched launched;
  Options options;
  options.machine = machine;
  options.workers = 2;
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Notes>(launched));
  runtime.run([&](Context& ctx) {
    Session np(ctx);
    program(np);
  });
  return launched;
}

/// Of the last task that computes `result` from ones.
std::string name_of(const std::function<Array(const Array&)>& result) {
  return launched_by([&](Session& np) {
           const Array x = np.ones(10);
           np.flush();
           const Array y = result(x);
           np.flush();
         })
      .names.back();
}

TEST(ArrayTasks, AreNamedByTheirOperations) {
  EXPECT_EQ(name_of([](const Array& x) { return x + 1.0; }), "add");
  EXPECT_EQ(name_of([](const Array& x) { return sqrt(x * 2.0 + 1.0); }), "multiply+add+sqrt");
  EXPECT_EQ(name_of([](const Array& x) { return sum(exp(x)); }), "exp+sum");
  EXPECT_EQ(name_of([](const Array& x) { return max(x); }), "max");
  EXPECT_EQ(name_of([](const Array& x) { return x.copy(); }), "copy");
  EXPECT_EQ(name_of([](const Array& x) { return x.astype(DType::float32); }), "cast");
  EXPECT_EQ(name_of([](const Array& x) { return sum(x.astype(DType::float32)); }), "sum");
  EXPECT_EQ(name_of([](const Array& x) { return square(abs(tan(cos(sin(x))))); }),
            "sin+cos+tan+absolute+square");
  // Each kind once, where it comes first.
  EXPECT_EQ(name_of([](const Array& x) {
              const Array y = x * 2.0 + 1.0;
              return y * (y + 3.0);
            }),
            "multiply+add");
}

TEST(ArrayTasks, LongNamesAreCutAndStayDifferent) {
  const auto chain = [](const Array& x, bool tangent) {
    const Array y = cos(sin(exp(sqrt(x))));
    return sum(square(tangent ? tan(y) : cos(y)));
  };
  const std::string one = name_of([&](const Array& x) { return chain(x, true); });
  const std::string other = name_of([&](const Array& x) { return chain(x, false); });
  EXPECT_TRUE(one.starts_with("sqrt+exp+sin+cos+2 more (")) << one;
  EXPECT_TRUE(one.ends_with(")+sum")) << one;
  EXPECT_NE(one, other);
  EXPECT_EQ(one.size(), other.size());
  EXPECT_EQ(one, name_of([&](const Array& x) { return chain(x, true); }));
}

TEST(ArrayTasks, AProgramOfEverNewWindowsHasSomeThousandTasks) {
  using Function = Array (*)(const Operand&);
  const std::vector<Function> functions{abs, sign, square, sqrt, cbrt,   exp,  exp2, expm1, sin,
                                        cos, tan,  sinh,   cosh, arctan, tanh, ceil, floor};
  const std::size_t n = functions.size();
  const auto end_with_verdict = [&] {
    const Launched launched = launched_by([&](Session& np) {
      const Array x = np.ones(4);
      for (std::size_t i = 0; i < n * n * n; ++i) {
        const Array y = functions[i / n / n](functions[i / n % n](functions[i % n](x)));
        np.flush();
      }
    });
    const std::set names(launched.names.begin(), launched.names.end());
    std::exit(names.size() < 4200 && launched.names.back() == "elementwise" ? 0 : 1);
  };
  // In a process of its own: names are the process's.
  EXPECT_EXIT(end_with_verdict(), testing::ExitedWithCode(0), "");
}

TEST(ArrayTasks, RunOnGpusWhereThereAreSome) {
  const auto program = [](Session& np) {
    const Array a = np.random.uniform({40, 40}) + np.eye(40), b = np.arange(40.0);
    const Array x = dot(a, b) / (1.0 + b), order = argsort(x);
    const Array found = gather(cumsum(sort(x)), order) + sum(a, 0);
    scatter(found, b > 30.0, 1.0);
    return found.to_vector<double>();
  };
  std::vector<double> on_cores, on_gpus;
  const Launched cores = launched_by([&](Session& np) { on_cores = program(np); });
  const Launched gpus = launched_by([&](Session& np) { on_gpus = program(np); },
                                    "emulated:cpus=4,gpus=2,framebuffer=64KiB");
  EXPECT_EQ(cores.kinds, std::set{ProcessorKind::cpu});
  EXPECT_EQ(gpus.kinds, std::set{ProcessorKind::gpu});
  EXPECT_EQ(cores.names, gpus.names);
  EXPECT_EQ(on_cores, on_gpus);
}

}  // namespace
}  // namespace refrain::test::tasks_test
