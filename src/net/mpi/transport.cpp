// MPI as a transport: a library of its own, compiled once for each kind of MPI, which net/launcher.cpp loads. It uses
// headers of Refrain only, and nothing of its code.
//
// Messages are received in the order in which they arrive from any rank; the header tells which one it is. A message is
// received in two steps, the second of which does not block: a large one, whose sender is busy, holds nobody up.
//
// Threads: one lock around all calls of MPI (MPI_THREAD_SERIALIZED). A thread that polls while another is in here
// comes back with nothing.

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "net/launcher.hpp"
#include "net/transport.hpp"

namespace refrain::net {

namespace {

#if defined(OPEN_MPI)
constexpr const char* kKind = "Open MPI";
#else
constexpr const char* kKind = "MPICH";
#endif
constexpr int kTag = 1;
/// Messages that one call accepts: it returns soon.
constexpr int kAtOnce = 16;

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(bool finalise) : finalise_(finalise) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
  }
  ~MpiTransport() override {
    // Others may still be sending what they wait for to be received.
    MPI_Request all = MPI_REQUEST_NULL;
    for (bool is_over = false; !is_over; std::this_thread::yield()) {
      while (accept()) {}
      progress_sends();
      if (sends_.empty() && all == MPI_REQUEST_NULL) MPI_Ibarrier(comm_, &all);
      is_over = all != MPI_REQUEST_NULL && is_done(all);
    }
    MPI_Comm_free(&comm_);
    if (finalise_) MPI_Finalize();
  }

  [[nodiscard]] Rank rank() const override { return static_cast<Rank>(rank_); }
  [[nodiscard]] Rank ranks() const override { return static_cast<Rank>(ranks_); }

  void send(Message message) override {
    if (message.word_count() > std::numeric_limits<int>::max())
      abort("refrain: a message of more than 16 GiB");
    const std::lock_guard lock(mutex_);
    const int to = static_cast<int>(message.header().to);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(message.words(), static_cast<int>(message.word_count()), MPI_UINT64_T, to, kTag,
              comm_, &request);
    // A small one is mostly on its way by now.
    if (!is_done(request)) sends_.push_back({std::move(message), request});
  }

  std::optional<Message> poll() override {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return std::nullopt;
    if (!sends_.empty()) progress_sends();
    for (auto each = receives_.begin(); each != receives_.end(); ++each) {
      if (!is_done(each->request)) continue;
      Message message = std::move(each->message);
      receives_.erase(each);
      return message;
    }
    return accept();
  }

  [[noreturn]] void abort(const std::string& text) noexcept override {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(stderr);
    // MPICH's launcher may end before it has passed on what it was sent last.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    // Not for ever: who has the lock may be what is wrong.
    const bool locked = mutex_.try_lock_for(std::chrono::milliseconds(200));
    static_cast<void>(locked);
    // Of the world: of another communicator MPICH's waits for the other ranks. The alarm is for whatever else may wait.
    std::signal(SIGALRM, SIG_DFL);
    alarm(3);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    std::abort();
  }

 private:
  struct Pending {
    Message message;
    MPI_Request request;
  };

  static bool is_done(MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }
  void progress_sends() {
    sends_.remove_if([](Pending& each) { return is_done(each.request); });
  }
  /// Begins to receive what has arrived, up to the first message that is there as a whole.
  std::optional<Message> accept() {
    for (int i = 0; i < kAtOnce; ++i) {
      int found = 0;
      MPI_Message matched = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, kTag, comm_, &found, &matched, &status);
      if (found == 0) return std::nullopt;
      int words = 0;
      MPI_Get_count(&status, MPI_UINT64_T, &words);
      Pending pending{Message::of_words(static_cast<std::size_t>(words)), MPI_REQUEST_NULL};
      MPI_Imrecv(pending.message.words(), words, MPI_UINT64_T, &matched, &pending.request);
      if (is_done(pending.request)) return std::move(pending.message);
      receives_.push_back(std::move(pending));
    }
    return std::nullopt;
  }

  const bool finalise_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  std::timed_mutex mutex_;
  std::list<Pending> sends_, receives_;  ///< under the mutex
};

/// Why this process cannot be connected, or "". `is_ours`: whether MPI is begun here.
std::string begin(unsigned version, bool& is_ours) {
  if (version != kVersion) return "its library was built for another version of Refrain";
  // A program that is linked with another kind of MPI has brought that one's functions along.
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  if (std::string(text).find(kKind) == std::string::npos)
    return std::string("the program is linked with another MPI than ") + kKind + ": " + text;
  int finalised = 0, initialised = 0, provided = MPI_THREAD_SINGLE;
  MPI_Finalized(&finalised);
  if (finalised != 0) return "MPI has ended in this process, and cannot begin again";
  MPI_Initialized(&initialised);
  is_ours = initialised == 0;
  if (is_ours) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  else MPI_Query_thread(&provided);
  // Calls of the program's own are not under the lock here.
  const int needed = is_ours ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  if (provided < needed)
    return "MPI was begun with thread level " + std::to_string(provided) + ", needed is " +
           std::to_string(needed) + (is_ours ? "" : " (MPI_THREAD_MULTIPLE)");
  return "";
}

}  // namespace

}  // namespace refrain::net

extern "C" [[gnu::visibility("default")]] refrain::net::Transport* refrain_connect(
    unsigned version, char* error, std::size_t size) {
  bool is_ours = false;
  const std::string why = refrain::net::begin(version, is_ours);
  if (!why.empty()) {
    std::snprintf(error, size, "%s", why.c_str());
    return nullptr;
  }
  return new refrain::net::MpiTransport(is_ours);
}
