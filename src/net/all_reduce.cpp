#include "net/all_reduce.hpp"

#include <atomic>
#include <utility>

#include "net/tree.hpp"

namespace refrain::net {

namespace {

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
    const Tree tree(mailbox_.rank(), mailbox_.ranks());
    std::vector<Header> from_children;
    for (const Rank child : tree.children()) {
      from_children.push_back(mailbox_.next_from(child, kind, call));
      to_children_.push_back(mailbox_.next_to(child, kind, call));
    }
    if (mailbox_.rank() != 0) {
      to_parent_ = mailbox_.next_to(tree.parent(), kind, call);
      from_parent_ = mailbox_.next_from(tree.parent(), kind, call);
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
    for (const Bytes& each : from_below_)
      if (!each.empty()) combine_(bytes_, each);
    if (mailbox_.rank() == 0) return finish(std::move(bytes_));
    mailbox_.send(to_parent_, {bytes_});
    mailbox_.await(from_parent_, where_, [self = shared_from_this()](const Message& message) {
      const auto bytes = message.bytes();
      self->finish(bytes.empty() ? std::move(self->bytes_) : Bytes(bytes.begin(), bytes.end()));
    });
  }
  void finish(Bytes result) {
    for (const Header& to : to_children_) mailbox_.send(to, {result});
    done_(std::move(result));
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
