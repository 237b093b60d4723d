// The part of refrain/oracle.h that lists what is in a file.

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "oracle/error.hpp"
#include "oracle/interface/c_errors.hpp"
#include "oracle/interface/listed_run.hpp"

using refrain::oracle::ListedRun;
using refrain::oracle::ListedThread;
using refrain::oracle::or_failed;
using refrain::oracle::OracleError;
using refrain::oracle::required;

namespace {

/// All that were read. What a run held is freed, the run itself is not: that it was freed is known.
struct Runs {
  std::mutex mutex;
  std::vector<std::unique_ptr<ListedRun>> all;
};

Runs& runs() {
  static auto* const made = new Runs;
  return *made;
}

/// Nothing is listed of a run that was freed. OracleError: there is none, or it was freed.
const ListedRun& listed(const refrain_oracle_run* run) {
  if (run == nullptr) throw OracleError("there is no run");
  if (run->program == nullptr) throw OracleError("the run has been freed already");
  return static_cast<const ListedRun&>(*run);
}

/// None beyond the end.
template <class T>
const T* entry(const std::vector<T>& list, std::size_t index) {
  return index < list.size() ? &list[index] : nullptr;
}

/// An entry of a list that each thread has.
template <class T>
const T* entry(const refrain_oracle_run* run, std::size_t thread,
               std::vector<T> ListedThread::*list, std::size_t index) {
  return or_failed<const T*>(nullptr, [&]() -> const T* {
    const ListedThread* const of = entry(listed(run).listed, thread);
    return of == nullptr ? nullptr : entry(of->*list, index);
  });
}

}  // namespace

const refrain_oracle_run* refrain_oracle_read(const char* path) {
  return or_failed<const refrain_oracle_run*>(nullptr, [&] {
    auto read = std::make_unique<ListedRun>(required(path, "the path"));
    const std::scoped_lock lock(runs().mutex);
    return runs().all.emplace_back(std::move(read)).get();
  });
}

int refrain_oracle_free(const refrain_oracle_run* run) {
  if (run == nullptr) return 0;
  return or_failed(-1, [&] {
    const std::scoped_lock lock(runs().mutex);
    const_cast<ListedRun&>(listed(run)).clear();  // it was made here, and not const
    return 0;
  });
}

const refrain_oracle_listed_thread* refrain_oracle_list_thread(const refrain_oracle_run* run,
                                                               size_t index) {
  return or_failed<const refrain_oracle_listed_thread*>(
      nullptr, [&]() -> const refrain_oracle_listed_thread* {
        const ListedThread* const found = entry(listed(run).listed, index);
        return found == nullptr ? nullptr : &found->thread;
      });
}

const refrain_oracle_listed_event* refrain_oracle_list_event(const refrain_oracle_run* run,
                                                             size_t thread, uint32_t event) {
  return entry(run, thread, &ListedThread::events, event);
}

const refrain_oracle_listed_rule* refrain_oracle_list_rule(const refrain_oracle_run* run,
                                                           size_t thread, uint32_t rule) {
  return entry(run, thread, &ListedThread::rules, rule);
}

const refrain_oracle_listed_note* refrain_oracle_list_note(const refrain_oracle_run* run,
                                                           size_t thread, uint32_t index) {
  return entry(run, thread, &ListedThread::notes, index);
}
