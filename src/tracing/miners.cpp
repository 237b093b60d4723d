#include "tracing/miners.hpp"

#include <utility>

#include "exec/background.hpp"

namespace refrain::runtime {

namespace {

class Mining final : public exec::BackgroundJob {
 public:
  explicit Mining(std::shared_ptr<autotrace::MiningJob> job) : job_(std::move(job)) {}
  void run() noexcept override { job_->run(); }

 private:
  std::shared_ptr<autotrace::MiningJob> job_;
};

class ExecutorMiners final : public autotrace::Miners {
 public:
  explicit ExecutorMiners(exec::Executor& executor) : executor_(executor) {}
  bool post(const std::shared_ptr<autotrace::MiningJob>& job) override {
    if (!executor_.runs_background()) return false;
    executor_.post(std::make_shared<Mining>(job));
    return true;
  }
  void hurry() override { executor_.hurry(); }

 private:
  exec::Executor& executor_;
};

}  // namespace

std::unique_ptr<autotrace::Miners> make_miners(exec::Executor& executor) {
  return std::make_unique<ExecutorMiners>(executor);
}

}  // namespace refrain::runtime
