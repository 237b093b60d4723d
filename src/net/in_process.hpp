#pragma once
// Ranks in one process, for tests: messages are late and overtake each other as a seed decides.

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "net/transport.hpp"

namespace refrain::net {

class InProcess {
 public:
  /// A number below the one that is given. Called under a lock.
  using Choose = std::function<std::size_t(std::size_t)>;
  /// Told of each message when it is sent. Called under a lock.
  using Watch = std::function<void(const Message&)>;

  InProcess(Rank ranks, Choose choose, Watch watch = nullptr);
  ~InProcess();
  InProcess(const InProcess&) = delete;

  /// One rank's end. It holds on to this object's insides, not to the object; ends do not wait for each other.
  [[nodiscard]] std::unique_ptr<Transport> open(Rank rank) const;
  /// Messages that were sent and not polled.
  [[nodiscard]] std::size_t in_flight() const;

 private:
  class End;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace refrain::net
