#include "exec/thread_limits.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "base/control_group.hpp"
#include "base/size.hpp"

namespace refrain::exec {

namespace {

using Number = unsigned long long;

/// The number behind `key` in a file of lines "KEY: NUMBER ..."; 0: there is none.
Number number_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  return 0;
}

Number soft_limit(__rlimit_resource what) {
  rlimit limit{};
  return getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : 0;
}

/// Threads of this user's processes.
Number threads_of_user() {
  Number threads = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string path = entry.path().string();
    struct stat of {};
    if (std::isdigit(static_cast<unsigned char>(path[6])) == 0 || stat(path.c_str(), &of) != 0 ||
        of.st_uid != getuid())
      continue;
    threads += number_in(path + "/status", "Threads:");
  }
  return threads;
}

Number threads_of_system() {
  std::ifstream file("/proc/loadavg");  // "0.1 0.2 0.3 RUNNING/THREADS LAST"
  std::string load, running;
  file >> load >> load >> load >> running;
  const std::size_t slash = running.find('/');
  return slash != std::string::npos ? std::strtoull(running.c_str() + slash + 1, nullptr, 10) : 0;
}

ThreadLimits find_limits() {
  ThreadLimits limits;
  const GroupLimit pids = least_group_limit("pids", {"pids.max"}, {"pids.current"});
  limits.group = pids.group;
  limits.group_most = pids.limit;
  limits.group_now = pids.current;
  limits.user_most = soft_limit(RLIMIT_NPROC);
  limits.user_now = limits.user_most != 0 ? threads_of_user() : 0;
  limits.system_most = number_in("/proc/sys/kernel/threads-max", "");
  limits.system_now = threads_of_system();
  limits.memory_most = soft_limit(RLIMIT_AS);
  limits.memory_now = number_in("/proc/self/status", "VmSize:") * 1024;
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
  const auto text = [](Number number) { return std::to_string(number); };
  if (limits.group_most != 0 && limits.group_now >= limits.group_most)
    return "the control group " + limits.group + " allows " + text(limits.group_most) +
           " (pids.max), and has " + text(limits.group_now);
  if (limits.memory_most != 0 && limits.memory_now + limits.stack >= limits.memory_most)
    return "a thread's stack takes " + short_size(limits.stack) + " of addresses, of which " +
           short_size(limits.memory_most) + " are allowed (ulimit -v) and " +
           short_size(limits.memory_now) + " used";
  if (limits.user_most != 0 && limits.user_now >= limits.user_most)
    return "the user may have " + text(limits.user_most) + " (ulimit -u), and has " +
           text(limits.user_now);
  if (limits.system_most != 0 && limits.system_now >= limits.system_most)
    return "the system allows " + text(limits.system_most) + " (kernel.threads-max), and has " +
           text(limits.system_now);
  std::string all = "of what is known no limit is reached";
  if (limits.group_most != 0) all += ", pids.max " + text(limits.group_most);
  if (limits.user_most != 0) all += ", ulimit -u " + text(limits.user_most);
  if (limits.system_most != 0) all += ", kernel.threads-max " + text(limits.system_most);
  return all + "; memory for stacks of " + short_size(limits.stack) + " may be short";
}

std::string what_limits_threads() { return what_limits_threads(find_limits()); }

}  // namespace refrain::exec
