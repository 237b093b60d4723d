#include "exec/threads.hpp"

#include <hwloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/machine.hpp"

namespace refrain::exec {

ProcessorPlan plan_processors(const Machine& machine) {
  ProcessorPlan plan;
  for (const ProcessorId id : machine.processors(ProcessorKind::cpu)) {
    plan.cpus.push_back({static_cast<int>(id), machine.processor(id).cpus});
  }
  if (plan.cpus.empty()) plan.cpus.push_back({0, {}});
  for (const Processor& processor : machine.processors())
    if (machine::traits_of(processor.kind).is_device)
      plan.dedicated.push_back(static_cast<int>(processor.id));
  return plan;
}

void bind_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (const int cpu : cpus) hwloc_bitmap_set(set, static_cast<unsigned>(cpu));
    hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD);  // a refusal is no error
    hwloc_bitmap_free(set);
  }
  hwloc_topology_destroy(topology);
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
  std::string load, running;
  file >> load >> load >> load >> running;
  const std::size_t slash = running.find('/');
  return slash != std::string::npos ? std::strtoull(running.c_str() + slash + 1, nullptr, 10) : 0;
}

bool has_room(std::uint64_t most, std::uint64_t now, std::uint64_t more) {
  return now < most && most - now >= more;
}

ThreadLimits find_limits() {
  ThreadLimits limits;
  if (const auto pids = machine::least_group_limit("pids", {"pids.max"}, {"pids.current"})) {
    limits.group_name = pids->group;
    limits.group = {pids->limit, pids->current.value_or(0)};
  }
  limits.user.most = soft_limit(RLIMIT_NPROC);
  if (limits.user.most) limits.user.now = threads_of_user();
  limits.system = {machine::number_in("/proc/sys/kernel/threads-max"), threads_of_system()};
  limits.addresses = {soft_limit(RLIMIT_AS),
                      machine::number_in("/proc/self/status", "VmSize:").value_or(0) * 1024};
  pthread_attr_t attributes;
  std::size_t stack = 0;
  if (pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &stack);
    pthread_attr_destroy(&attributes);
  }
  limits.stack = stack;
  return limits;
}

}  // namespace

std::string what_limits_threads(const ThreadLimits& limits) {
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  const auto& [group_name, group, user, system, addresses, stack] = limits;
  if (group.most && !has_room(*group.most, group.now, 1))
    return "the control group " + group_name + " allows " + text(*group.most) +
           " (pids.max), and has " + text(group.now);
  if (addresses.most && !has_room(*addresses.most, addresses.now, stack))
    return "a thread's stack takes " + short_size(stack) + " of addresses, of which " +
           short_size(*addresses.most) + " are allowed (ulimit -v) and " +
           short_size(addresses.now) + " used";
  if (user.most && !has_room(*user.most, user.now, 1))
    return "the user may have " + text(*user.most) + " (ulimit -u), and has " + text(user.now);
  if (system.most && !has_room(*system.most, system.now, 1))
    return "the system allows " + text(*system.most) + " (kernel.threads-max), and has " +
           text(system.now);
  std::string all = "of what is known no limit is reached";
  if (group.most) all += ", pids.max " + text(*group.most);
  if (user.most) all += ", ulimit -u " + text(*user.most);
  if (system.most) all += ", kernel.threads-max " + text(*system.most);
  return all + "; memory for stacks of " + short_size(stack) + " may be short";
}

std::string what_limits_threads() { return what_limits_threads(find_limits()); }

}  // namespace refrain::exec
