#include "net/all_reduce.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace refrain::net {

namespace {

// The children of a rank are rank + 1, + 2, + 4, ... below its lowest bit that is set: what a child has below it
// follows what the children before have.
class AllReduce : public std::enable_shared_from_this<AllReduce> {
 public:
  AllReduce(Mailbox& mailbox, const Where& where, Bytes contribution, Combine combine,
            std::function<void(Bytes)> done)
      : mailbox_(mailbox),
        where_(where),
        bytes_(std::move(contribution)),
        combine_(std::move(combine)),
        done_(std::move(done)) {}

  void begin(std::uint32_t kind, std::uint64_t call) {
    const Rank me = mailbox_.rank(), ranks = mailbox_.ranks();
    std::vector<Header> from_children;
    for (Rank bit = 1; (me & bit) == 0 && me + bit < ranks; bit *= 2) {
      from_children.push_back(mailbox_.next_from(me + bit, kind, call));
      to_children_.push_back(mailbox_.next_to(me + bit, kind, call));
    }
    if (me != 0) {
      const Rank parent = me & (me - 1);
      to_parent_ = mailbox_.next_to(parent, kind, call);
      from_parent_ = mailbox_.next_from(parent, kind, call);
    }
    from_below_.resize(from_children.size());
    missing_ = from_children.size() + 1;
    for (std::size_t i = 0; i < from_children.size(); ++i)
      mailbox_.await(from_children[i], where_,
                     [self = shared_from_this(), i](const Message& message) {
                       self->from_below_[i].assign(message.bytes().begin(), message.bytes().end());
                       self->one_is_there();
                     });
    one_is_there();
  }

 private:
  // acq_rel: the last one sees what the others have written.
  void one_is_there() {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    for (const Bytes& each : from_below_) combine_(bytes_, each);
    if (mailbox_.rank() == 0) return finish(std::move(bytes_));
    send(to_parent_, bytes_);
    mailbox_.await(from_parent_, where_, [self = shared_from_this()](const Message& message) {
      self->finish(Bytes(message.bytes().begin(), message.bytes().end()));
    });
  }
  void finish(Bytes result) {
    for (const Header& to : to_children_) send(to, result);
    done_(std::move(result));
  }
  void send(Header header, const Bytes& bytes) {
    header.size = bytes.size();
    Message message(header);
    std::ranges::copy(bytes, message.bytes().begin());
    mailbox_.send(std::move(message));
  }

  Mailbox& mailbox_;
  const Where where_;
  Bytes bytes_;
  const Combine combine_;
  const std::function<void(Bytes)> done_;
  std::vector<Header> to_children_;
  Header to_parent_, from_parent_;
  std::vector<Bytes> from_below_;
  std::atomic<std::size_t> missing_{0};  ///< children, and one for begin()
};

}  // namespace

void all_reduce(Mailbox& mailbox, const Occasion& of, Bytes contribution, Combine combine,
                std::function<void(Bytes)> done) {
  std::make_shared<AllReduce>(mailbox, of.where, std::move(contribution), std::move(combine),
                              std::move(done))
      ->begin(of.kind, of.call);
}

}  // namespace refrain::net
