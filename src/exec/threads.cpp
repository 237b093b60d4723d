#include "exec/threads.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/machine.hpp"

namespace refrain::exec {

ProcessorPlan plan_processors(const Machine& machine) {
  ProcessorPlan plan;
  for (const ProcessorId id : machine.processors(ProcessorKind::cpu))
    plan.cpus.push_back({static_cast<int>(id), machine.processor(id).cpus});
  if (plan.cpus.empty()) plan.cpus.push_back({0, {}});
  for (const Processor& processor : machine.processors())
    if (machine::traits_of(processor.kind).is_device)
      plan.dedicated.push_back(static_cast<int>(processor.id));
  return plan;
}

void bind_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty() || std::ranges::max(cpus) >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // a refusal is no error
}

void move_this_thread(const std::vector<int>& cpus) {
  cpu_set_t before;
  if (cpus.empty() || pthread_getaffinity_np(pthread_self(), sizeof before, &before) != 0) return;
  bind_this_thread(cpus);
  pthread_setaffinity_np(pthread_self(), sizeof before, &before);
}

namespace {

std::optional<std::uint64_t> soft_limit(__rlimit_resource what) {
  rlimit limit{};
  if (getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return limit.rlim_cur;
}

/// Threads of this user's processes.
std::uint64_t threads_of_user() {
  std::uint64_t threads = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string path = entry.path().string();
    struct stat of {};
    if (std::isdigit(static_cast<unsigned char>(path[6])) == 0 || stat(path.c_str(), &of) != 0 ||
        of.st_uid != getuid())
      continue;
    threads += machine::number_in(path + "/status", "Threads:").value_or(0);
  }
  return threads;
}

std::uint64_t threads_of_system() {
  std::ifstream file("/proc/loadavg");  // "0.1 0.2 0.3 RUNNING/THREADS LAST"
  std::uint64_t threads = 0;
  file.ignore(std::numeric_limits<std::streamsize>::max(), '/') >> threads;
  return threads;
}

ThreadLimits find_limits() {
  ThreadLimits limits;
  if (const auto pids = machine::least_group_limit("pids", {"pids.max"}, "pids.current")) {
    limits.group_name = pids->group;
    limits.group = {pids->limit, pids->current.value_or(0)};
  }
  limits.user.most = soft_limit(RLIMIT_NPROC);
  if (limits.user.most) limits.user.now = threads_of_user();
  limits.system = {machine::number_in("/proc/sys/kernel/threads-max"), threads_of_system()};
  // The most so far: a thread that begins takes 128 MiB for its heap, and gives most of that back at once.
  limits.addresses = {soft_limit(RLIMIT_AS),
                      machine::number_in("/proc/self/status", "VmPeak:").value_or(0) * 1024};
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &limits.stack);
    pthread_attr_destroy(&attributes);
  }
  return limits;
}

}  // namespace

std::string what_limits_threads(const ThreadLimits& limits) {
  const auto& [group_name, group, user, system, addresses, stack] = limits;
  const auto reached = [](const ThreadLimits::Limit& limit, std::uint64_t more = 1) {
    return limit.now + more > limit.at_most();
  };
  if (reached(group))
    return fmt::format("the control group {} allows {} (pids.max), and has {}", group_name,
                       group.at_most(), group.now);
  if (reached(user))
    return fmt::format("the user may have {} (ulimit -u), and has {}", user.at_most(), user.now);
  if (reached(system))
    return fmt::format("the system allows {} (kernel.threads-max), and has {}", system.at_most(),
                       system.now);
  if (reached(addresses, stack + 4096))  // with the page that ends the stack
    return fmt::format(
        "a thread's stack takes {} of addresses, of which {} are allowed (ulimit -v) "
        "and {} used",
        short_size(stack), short_size(addresses.at_most()), short_size(addresses.now));
  std::string all = "of what is known no limit is reached";
  if (group.most) all += fmt::format(", pids.max {}", *group.most);
  if (user.most) all += fmt::format(", ulimit -u {}", *user.most);
  if (system.most) all += fmt::format(", kernel.threads-max {}", *system.most);
  return all + "; memory for stacks of " + short_size(stack) + " may be short";
}

std::string what_limits_threads() { return what_limits_threads(find_limits()); }

}  // namespace refrain::exec
