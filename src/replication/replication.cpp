#include "replication/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "data/projection.hpp"
#include "data/region_tree.hpp"
#include "launch/call_identity.hpp"
#include "launch/future_state.hpp"
#include "launch/launch_plan.hpp"
#include "launch/planner.hpp"
#include "net/tree.hpp"
#include "refrain/error.hpp"

namespace refrain::replication {

using analysis::FieldState;
using data::IndexSpaceRef;
using refrain::detail::FutureState;
using runtime::LaunchPlan;
using shard::ShardId;

/// Of each requirement its field, and who uses what of it on all shards.
struct Replication::Plan final : runtime::ReplicatedPlan {
  bool group = false;
  std::vector<FieldState*> fields;
  std::vector<shard::UsersRef> users;   ///< of a group
  std::vector<IndexSpaceRef> points;    ///< of a single launch
  std::vector<IndexSpaceRef> own_uses;  ///< what is used here
  Sharding sharding;
  std::uint64_t token = 0;  ///< of the call, the same on every shard: it names no slot of the task
};

struct Replication::Pieces final : runtime::ReplicatedPieces {
  explicit Pieces(shard::UsersRef by) : users(std::move(by)) {}
  [[nodiscard]] std::vector<std::uint32_t> own() const override {
    std::vector<std::uint32_t> ranks;
    for (const shard::Use& use : users->own_uses()) ranks.push_back(use.launch_rank);
    return ranks;
  }
  shard::UsersRef users;
};

namespace {

data::IndexSpaceRef points_of(const AnyRegion& region) {
  return region.tree->node(region.node).space;
}

/// A region that has all points of a requirement.
AnyRegion whole_of(const Requirement& r) {
  if (r.partition.tree == nullptr) return r.region;
  data::RegionTree& tree = *r.partition.tree;
  return tree.handle(tree.partition(r.partition.index).parent);
}

/// Whether the points that run here use what `users`, which every shard has, says of them. Not so where projection or
/// sharding answer differently when they are asked again.
bool fits(const shard::Users& users, const LaunchPlan& plan, std::size_t argument) {
  const std::vector<shard::Use> uses = users.own_uses();
  auto use = uses.begin();
  for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
    const IndexSpaceRef& points = plan.own.arguments[rank * plan.argument_count + argument].points;
    if (points->empty()) continue;
    if (use == uses.end() || use->launch_rank != plan.own.points[rank].launch_rank ||
        use->points != points)
      return false;
    ++use;
  }
  return use == uses.end();
}

/// Contributions are in the order of launch points, and of the arguments of each.
constexpr auto turn_of = [](const auto& each) {
  return std::pair(each.launch_rank, each.argument);
};

}  // namespace

Replication::Replication(runtime::ContextCore& context, Ranks& ranks,
                         std::function<void(std::uint64_t)> end_region)
    : context_(context),
      ranks_(ranks),
      check_(ranks.check()),
      end_region_(std::move(end_region)),
      me_(ranks.mailbox().rank()),
      shards_(ranks.mailbox().ranks()),
      failures_(context.identity),
      transfers_(context, ranks.mailbox(), failures_, counters_),
      steps_(me_, shards_) {
  ranks.set_running(true);
  context.call_log = check_;
  if (check_ != nullptr)
    check_->at_intervals([this](const Where& where) { begin_interval(where); });
}

// --- control determinism -----------------------------------------------------------------------------------

// A shard that is far ahead waits for the others. Then it is known on all of them alike which regions may end. Not while it
// records, as the wait is an operation: how far the others are must not decide what is recorded.
void Replication::begin_interval(const Where& where) noexcept {
  try {
    const std::size_t most = check_->most_open();
    if (check_->open() > most && !context_.analysis.is_recorded())
      wait_for([&](std::function<void()> done) { check_->when_open(most / 2, std::move(done)); },
               context_.analysis.info_for("call", where));
    for (const std::uint64_t region : check_->take_agreed()) end_region_(region);
  } catch (...) { end_run(std::current_exception()); }
}

// --- states ----------------------------------------------------------------------------------------------

/// As in the beginning it has no layers.
shard::StateRef Replication::state_of(const FieldState& field) {
  if (field.on_shards == nullptr) return steps_.initial(field.space());
  return std::static_pointer_cast<const shard::State>(field.on_shards);
}

const shard::Step& Replication::step(FieldState& field, const shard::Access& access) {
  keep_extent(field);
  const shard::Step& taken = steps_.take(state_of(field), access);
  context_.analysis.share(field, taken.next->layers.empty() ? nullptr : taken.next);
  return taken;
}

/// What this shard uses of the field is kept from now on.
void Replication::keep_extent(FieldState& field) {
  if (field.used() == nullptr) keep_extent(field, analysis::UsedExtent(field.space()));
}

void Replication::keep_extent(FieldState& field, const analysis::UsedExtent& used) {
  if (field.used() != nullptr) return field.used()->widen(used.points());
  extents_.erase(&field);  // of one that had its address
  field.set_used(&extents_.emplace(&field, used).first->second);
}

void Replication::forget(FieldState& field) {
  context_.analysis.share(field, nullptr);
  field.set_used(nullptr);
  extents_.erase(&field);
}

ShardCounters Replication::counters() const {
  ShardCounters counters = counters_;
  counters.message_plans = steps_.misses();
  return counters;
}

net::Header Replication::header_to(ShardId peer, MessageKind kind, std::uint32_t argument,
                                   std::size_t bytes) {
  ++counters_.messages;
  counters_.message_bytes += bytes;
  return ranks_.mailbox().next_to(peer, number_of(kind), call_, argument);
}

net::Header Replication::header_from(ShardId peer, MessageKind kind, std::uint32_t argument) {
  return ranks_.mailbox().next_from(peer, number_of(kind), call_, argument);
}

void Replication::move(FieldState& field, const shard::Traffic& traffic, std::uint32_t argument,
                       const analysis::Origin& origin) {
  for (const shard::Transfer& each : traffic.sends)
    transfers_.send(field, each.points, each.peer, argument, origin);
  for (const shard::Transfer& each : traffic.receives)
    transfers_.receive(field, each.points, each.peer, argument, origin);
}

// --- launches --------------------------------------------------------------------------------------------

bool Replication::runs_here(const LaunchRequest& request) {
  context_.deferred->settle_on_shards();
  std::map<ShardId, std::size_t> written, read;
  for (std::size_t i = 0; i < request.requirements.size(); ++i) {
    const Requirement& r = request.requirements[i];
    if (r.region.tree == nullptr) continue;  // the planner refuses it
    const IndexSpaceRef points = points_of(r.region);
    FieldState& field = context_.field_state(r.region, r.field, r.privilege, r.op,
                                             runtime::argument_name(request, i));
    auto& sums = r.privilege == Privilege::read ? read : written;
    for (const auto& [shard, part] : steps_.folders(state_of(field), points))
      sums[shard] += part->volume();
  }
  const auto most = [](const std::map<ShardId, std::size_t>& sums) {
    return std::ranges::max_element(
               sums, [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  runs_at_ = !written.empty() ? most(written) : !read.empty() ? most(read) : 0;
  return runs_at_ == me_;
}

IndexSpaceRef Replication::own_points(const LaunchRequest& request, const IndexSpaceRef& domain) {
  if (request.domain == nullptr)
    return runs_at_ == me_ ? domain : data::IndexSpace::empty_space(domain->dim());
  const ShardingInput input{request.task->name(), request.where,    domain->dim(),
                            domain->volume(),     domain->bounds(), shards_};
  Mapper& mapper = context_.runtime.mapper();
  try {
    try {
      sharding_ = mapper.sharding(input);
    } catch (...) { runtime::fail_mapper(mapper, request, ", its sharding"); }
  } catch (...) { end_run(std::current_exception()); }
  try {
    return shard::own_points(sharding_, domain, me_, shards_);
  } catch (const UsageError& error) {
    throw UsageError(runtime::launch_name(request) + ": " + error.what());
  }
}

std::shared_ptr<runtime::ReplicatedPlan> Replication::plan(const LaunchPlan& plan,
                                                           const LaunchRequest& request) {
  auto made = std::make_shared<Plan>();
  made->group = plan.group;
  made->sharding = plan.group ? sharding_ : Sharding();
  made->token = runtime::token_of(request, false) ^ made->sharding.id();
  const ResultType& result = request.task->result();
  if (result.destroy != nullptr && result.packing == nullptr)
    throw UsageError(runtime::launch_name(request) +
                     ": its result has a destructor and no refrain::Packing, so it cannot be sent "
                     "to the other processes that run the program");
  for (std::size_t i = 0; i < request.requirements.size(); ++i) {
    const Requirement& r = request.requirements[i];
    const AnyRegion whole = whole_of(r);
    const std::string who = runtime::argument_name(request, i);
    made->fields.push_back(&context_.field_state(whole, r.field, r.privilege, r.op, who));
    if (!plan.group) {
      made->points.push_back(points_of(whole));
      made->own_uses.push_back(runs_at_ == me_
                                   ? made->points.back()
                                   : data::IndexSpace::empty_space(made->points.back()->dim()));
      continue;
    }
    const bool partitioned = r.partition.tree != nullptr;
    IndexSpaceRef colours = data::IndexSpace::dense(1, Rect<3>{{0, 0, 0}, {0, 0, 0}});
    std::vector<IndexSpaceRef> spaces;
    if (partitioned) {
      const data::RegionTree& tree = *r.partition.tree;
      const data::PartitionNode& partition = tree.partition(r.partition.index);
      colours = partition.colours;
      spaces = tree.pieces_of(partition);
    } else {
      spaces.push_back(points_of(whole));
    }
    const int dim = made->fields.back()->space()->dim();
    made->users.push_back(
        steps_.users().group({steps_.users().pieces(dim, colours, std::move(spaces)), partitioned,
                              r.projection, plan.points.domain, made->sharding}));
    made->own_uses.push_back(made->users.back()->own());
    if (!fits(*made->users.back(), plan, i))
      throw UsageError(fmt::format(
          "{}: projection {} or sharding {} gives the launch's points other pieces, or other "
          "shards, when it is asked again; it has to be a pure function of the point",
          who, data::describe(r.projection.impl()), made->sharding.describe()));
    const std::uint64_t answers[] = {made->token, made->users.back()->assignment()};
    made->token = hash_bytes(answers, sizeof answers);
  }
  return made;
}

shard::UsersRef Replication::single(ShardId shard, const IndexSpaceRef& points) {
  shard::ByShard uses;
  shard::add(uses, shard, points);
  return steps_.users().single(uses, points->dim());
}

shard::UsersRef Replication::users(const Plan& plan, std::size_t argument) {
  return plan.group ? plan.users[argument] : single(runs_at_, plan.points[argument]);
}

analysis::Origin Replication::origin_of(const LaunchPlan& plan, std::uint32_t argument,
                                        std::uint64_t rank) const {
  analysis::Origin origin{call_, rank, static_cast<int>(argument), &plan.info};
  origin.on_shards = true;
  return origin;
}

bool Replication::has_to_be_sent(const FutureState& future, const LaunchRequest& request) const {
  if (future.group())
    throw UsageError(refrain::runtime::launch_name(request) +
                     ": the values of a group launch are no argument of another one where several "
                     "processes run the program: reduce them, or ask for each");
  return request.domain != nullptr || future.at != runs_at_;
}

void Replication::replayed(const LaunchPlan& plan) {
  if (check_ != nullptr) check_->add(static_cast<const Plan&>(*plan.points.replicated).token);
}

void Replication::begin(LaunchPlan& launch, std::uint64_t call) {
  const auto& plan = static_cast<const Plan&>(*launch.points.replicated);
  call_ = call;
  replayed(launch);
  outgoing_.clear();
  taken_.clear();
  parts_.clear();
  remote_.clear();
  next_remote_ = 0;
  const auto count = static_cast<std::uint32_t>(launch.requirements.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    keep_extent(*plan.fields[i]);
    context_.analysis.widen(*plan.fields[i], plan.own_uses[i], origin_of(launch, i, 0));
  }
  const auto each = [&](auto wanted, shard::Kind kind, auto then) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (wanted(launch.requirements[i].privilege))
        then(i, step(*plan.fields[i], shard::access(kind, users(plan, i))).traffic);
  };
  each([](Privilege p) { return reads(p); }, shard::Kind::read,
       [&](std::uint32_t i, const shard::Traffic& traffic) {
         move(*plan.fields[i], traffic, i, origin_of(launch, i, 0));
       });
  each([](Privilege p) { return writes(p) && p != Privilege::reduce; }, shard::Kind::write,
       [](std::uint32_t, const shard::Traffic&) {});
  each([](Privilege p) { return p == Privilege::reduce; }, shard::Kind::reduce,
       [&](std::uint32_t i, const shard::Traffic& traffic) {
         reduce(launch, i, traffic, origin_of(launch, i, 0));
       });
  std::ranges::stable_sort(parts_, {}, turn_of);
  std::ranges::stable_sort(remote_, {}, turn_of);
}

/// The messages of contributions to one argument.
void Replication::reduce(LaunchPlan& launch, std::uint32_t argument, const shard::Traffic& traffic,
                         const analysis::Origin& origin) {
  struct Given {
    std::uint32_t message;
    std::vector<std::size_t> sections;
  };
  FieldState& field = *static_cast<const Plan&>(*launch.points.replicated).fields[argument];
  const auto make = [&](ShardId peer, bool received, const std::vector<std::size_t>& points) {
    return transfers_.contributions(
        {peer, received, argument, launch.requirements[argument].op, launch.info}, points, call_);
  };
  for (const shard::Contribution& each : traffic.folded)
    context_.analysis.widen(field, each.points, origin);
  std::map<ShardId, Given> given;
  std::map<ShardId, std::vector<const shard::Contribution*>> folded;
  for (const shard::Contribution& each : traffic.given) {
    const auto next = static_cast<std::uint32_t>(outgoing_.size() + given.size());
    auto& [message, sections] = given.try_emplace(each.to, Given{next, {}}).first->second;
    parts_.push_back({each.launch_rank,
                      argument,
                      {each.points, message, static_cast<std::uint32_t>(sections.size())}});
    sections.push_back(each.points->volume());
  }
  outgoing_.resize(outgoing_.size() + given.size());
  for (const auto& [to, its] : given) outgoing_[its.message] = make(to, false, its.sections);
  for (const shard::Contribution& each : traffic.folded) {
    if (each.from == me_)
      parts_.push_back(
          {each.launch_rank, argument, {each.points, runtime::ContributionPart::kHere, 0}});
    else folded[each.from].push_back(&each);
  }
  for (const auto& [from, sections] : folded) {
    std::vector<std::size_t> points;
    for (const shard::Contribution* each : sections) {
      remote_.push_back({each->launch_rank, argument, static_cast<std::uint32_t>(points.size()),
                         taken_.size(), each->points});
      points.push_back(each->points->volume());
    }
    const std::shared_ptr<Contributions> incoming = make(from, true, points);
    taken_.push_back({incoming, transfers_.take(incoming, origin)});
  }
}

void Replication::fold_before(LaunchPlan& launch, std::uint64_t launch_rank) {
  const auto& plan = static_cast<const Plan&>(*launch.points.replicated);
  for (; next_remote_ < remote_.size() && remote_[next_remote_].launch_rank < launch_rank;
       ++next_remote_) {
    const RemoteFold& each = remote_[next_remote_];
    const Taken& taken = taken_[each.message];
    const runtime::PlannedRequirement& requirement = launch.requirements[each.argument];
    transfers_.fold(taken.message, taken.node, each.section, *plan.fields[each.argument],
                    each.points, requirement.relaxed ? requirement.op : nullptr,
                    origin_of(launch, each.argument, each.launch_rank));
  }
}

std::span<const runtime::ContributionPart> Replication::parts(std::uint32_t launch_rank,
                                                              std::size_t argument) {
  found_.clear();
  auto at = std::ranges::lower_bound(
      parts_, std::pair(launch_rank, static_cast<std::uint32_t>(argument)), {}, turn_of);
  for (; at != parts_.end() && at->launch_rank == launch_rank && at->argument == argument; ++at)
    found_.push_back(at->part);
  return found_;
}

analysis::FoldPayload& Replication::give(const exec::NodeRef& reducer,
                                         const runtime::ContributionPart& part,
                                         const analysis::Origin& origin) {
  return transfers_.give(reducer, outgoing_[part.message], part.section, part.points, origin);
}

// A value stays where it was made until another shard asks for it, or all do.
void Replication::end(LaunchPlan& plan, const AnyFuture& result) {
  fold_before(plan, ~std::uint64_t{0});
  if (result.valid() && !plan.group) result.state()->at = runs_at_;
}

// --- other calls -----------------------------------------------------------------------------------------

void Replication::access(FieldState& field, const IndexSpaceRef& points, Privilege privilege,
                         const analysis::Origin& origin) {
  call_ = origin.call;
  if (reads(privilege))
    move(field, step(field, shard::access_by_all(shard::Kind::read_by_all, points)).traffic, 0,
         origin);
  if (writes(privilege)) step(field, shard::access_by_all(shard::Kind::write_by_all, points));
}

std::shared_ptr<runtime::ReplicatedPieces> Replication::divide(int dim,
                                                               const IndexSpaceRef& colours,
                                                               std::vector<IndexSpaceRef> pieces,
                                                               const Sharding& sharding) {
  const shard::PiecesRef all = steps_.users().pieces(dim, colours, std::move(pieces));
  auto made =
      std::make_shared<Pieces>(steps_.users().group({all, true, Projection(), colours, sharding}));
  if (check_ != nullptr) check_->add(made->users->assignment());
  return made;
}

void Replication::attach(FieldState& field, const runtime::ReplicatedPieces& pieces) {
  step(field, shard::access(shard::Kind::write, static_cast<const Pieces&>(pieces).users));
}

void Replication::detach(FieldState& field, const runtime::ReplicatedPieces& pieces,
                         const analysis::Origin& origin) {
  const shard::UsersRef& users = static_cast<const Pieces&>(pieces).users;
  call_ = origin.call;
  move(field, step(field, shard::access(shard::Kind::read, users)).traffic, 0, origin);
  step(field, shard::access_by_all(shard::Kind::write_by_all, users->points()));
}

IndexSpaceRef Replication::copy(FieldState& from, FieldState& to, const IndexSpaceRef& points) {
  keep_extent(from);
  context_.analysis.share(from, from.on_shards);
  shard::ByShard owners = steps_.owners(state_of(from), points);
  IndexSpaceRef own = data::IndexSpace::empty_space(points->dim());
  if (const auto all = owners.extract(shard::kEveryShard)) {
    own = all.mapped();
    step(to, shard::access_by_all(shard::Kind::write_by_all, own));
  }
  if (owners.empty()) return own;
  if (const auto mine = owners.find(me_); mine != owners.end())
    own = data::unite(own, mine->second);
  step(to, shard::access(shard::Kind::write, steps_.users().single(owners, points->dim())));
  return own;
}

/// The positions in the launch of the points that a shard runs.
std::vector<std::size_t> Replication::ranks_of(const Plan& plan, const IndexSpaceRef& domain,
                                               ShardId shard) const {
  std::vector<std::size_t> ranks;
  shard::own_points(plan.sharding, domain, shard, shards_)
      ->for_each_point([&](const data::BoxPoint& p) { ranks.push_back(*domain->rank(p)); });
  return ranks;
}

// --- futures ---------------------------------------------------------------------------------------------

namespace {

/// What the operation of an exchange works on.
struct Exchanging {
  std::shared_ptr<analysis::Exchange> exchange;
  exec::Failure::Origin origin;
};

void run_exchange(exec::Node& node, exec::Execution& execution) {
  const Exchanging made = std::move(node.payload_as<Exchanging>());
  node.payload_as<Exchanging>().~Exchanging();
  if (execution.failure != nullptr) return;
  made.exchange->run(
      {[&] { return exec::complete_later(node, execution); },
       [&](const std::exception_ptr& error) { return exec::fail(node, made.origin, error); }});
}

}  // namespace

exec::NodeRef Replication::issue(const runtime::CallExchange& made, std::uint64_t call,
                                 const std::function<void(analysis::Edges&)>& add_edges) {
  exec::Node& node = context_.scope.allocate(sizeof(Exchanging));
  analysis::Origin origin{call, 0, -1, made.info};
  origin.on_shards = true;
  ::new (node.payload()) Exchanging{made.exchange, analysis::failure_origin(node, origin)};
  node.kind = exec::NodeKind::other;
  node.priority = exec::kUrgent;
  node.run = run_exchange;
  node.info = made.info;
  const exec::NodeRef ref{&node, node.seq};
  if (made.makes.valid()) made.makes.state()->set_producer(0, ref);
  context_.analysis.log_operation(node, origin);
  analysis::Edges edges = context_.analysis.edges_to(node);
  add_edges(edges);
  context_.analysis.note(analysis::ExchangePayload{made.exchange->completes_later()});
  context_.analysis.publish(edges);
  return ref;
}

void Replication::issue(std::span<const runtime::CallExchange> exchanges, const FutureState& given,
                        std::uint64_t call) {
  std::vector<exec::NodeRef> before;
  for (const runtime::CallExchange& each : exchanges)
    before.push_back(issue(each, call, [&](analysis::Edges& edges) {
      if (!each.reads) return;
      context_.depend_on(edges, given);
      for (const exec::NodeRef& other : before) edges.add(other);
    }));
}

// By a tree of shards whose root has the value: none sends more than the logarithm of their number.
std::vector<runtime::CallExchange> Replication::send_to_all(FutureState& state, const Where& where,
                                                            std::uint64_t call) {
  std::vector<runtime::CallExchange> made;
  const ShardId from = state.at.load(std::memory_order_relaxed);
  const AnyFuture value = refrain::detail::share(state);
  call_ = call;
  state.at.store(FutureState::kEverywhere, std::memory_order_relaxed);
  const net::Tree tree((me_ + shards_ - from) % shards_, shards_);
  const auto shard_at = [&](ShardId in_tree) { return (in_tree + from) % shards_; };
  if (from != me_)
    made.push_back({receive_values(ranks_.mailbox(), failures_, where, value, {0},
                                   header_from(shard_at(tree.parent()), MessageKind::future, 0)),
                    &context_.analysis.info_for("receive", where), value, false});
  std::vector<net::Header> headers;
  for (const ShardId child : tree.children())
    headers.push_back(header_to(shard_at(child), MessageKind::future, 0, bytes_of(value, 1)));
  if (!headers.empty())
    made.push_back({send_values(ranks_.mailbox(), failures_, value, {}, {0}, std::move(headers)),
                    &context_.analysis.info_for("send", where), AnyFuture(), true});
  return made;
}

AnyFuture Replication::gather(FutureState& own, const exec::NodeInfo& info) {
  if (&own.all() != &own) return refrain::detail::share(own.all());
  if (own.is_kept() && own.context() != context_.identity) refrain::detail::fail_kept();
  const AnyFuture values = refrain::detail::share(own);
  if (!is_spread(own)) return values;
  context_.deferred->untraceable("the values of a group went to all shards");
  call_ = context_.calls - 1;
  const IndexSpaceRef domain = own.of_group().domain;
  const auto& plan = static_cast<const Plan&>(*own.of_group().replicated);
  AnyFuture whole(FutureState::make(own.type(), context_.identity, domain->volume(),
                                    {domain, domain, nullptr}));
  const auto issue_for = [&](const std::vector<std::size_t>& ranks,
                             const std::shared_ptr<analysis::Exchange>& exchange, bool reads) {
    const exec::NodeRef ref =
        issue({exchange, &info, AnyFuture(), reads}, call_, [&](analysis::Edges& edges) {
          if (reads) context_.depend_on(edges, own);
        });
    for (const std::size_t rank : ranks) whole.state()->set_producer(rank, ref);
  };
  if (own.points() > 0) {
    std::vector<net::Header> headers;
    for (ShardId peer = 0; peer < shards_; ++peer)
      if (peer != me_)
        headers.push_back(header_to(peer, MessageKind::future, 0, bytes_of(values, own.points())));
    const std::vector<std::size_t> ranks = ranks_of(plan, domain, me_);
    issue_for(ranks,
              send_values(ranks_.mailbox(), failures_, values, whole, ranks, std::move(headers)),
              true);
  }
  for (ShardId peer = 0; peer < shards_; ++peer) {
    if (peer == me_) continue;
    const std::vector<std::size_t> ranks = ranks_of(plan, domain, peer);
    if (!ranks.empty())
      issue_for(ranks,
                receive_values(ranks_.mailbox(), failures_, info.where, whole, ranks,
                               header_from(peer, MessageKind::future, 0)),
                false);
  }
  whole.state()->retain();
  own.whole.store(whole.state(), std::memory_order_release);
  return whole;
}

bool Replication::is_spread(const FutureState& values) const {
  return values.group() && values.is_kept();
}

// By the tree of ranks in which all-reduces go: a shard adds what those below it have, and the first one has all.
std::vector<runtime::CallExchange> Replication::reduce(const AnyFuture& values,
                                                       const ReductionOp& op,
                                                       const AnyFuture& result,
                                                       const exec::NodeInfo& info,
                                                       std::uint64_t call) {
  const FutureState& own = *values.state();
  call_ = call;
  const IndexSpaceRef& domain = own.of_group().domain;
  const net::Tree tree(me_, shards_);
  std::vector<runtime::CallExchange> made;
  std::vector<std::shared_ptr<PartialResults>> below;
  for (const ShardId child : tree.children()) {
    below.push_back(std::make_shared<PartialResults>(op, domain->volume()));
    made.push_back({receive_results(ranks_.mailbox(), failures_, info.where, below.back(),
                                    header_from(child, MessageKind::future, 0)),
                    &context_.analysis.info_for("receive", info.where)});
  }
  std::optional<net::Header> above;
  if (me_ != 0) above = header_to(tree.parent(), MessageKind::future, 0, 0);
  SharedReduction reduction{
      values,
      ranks_of(static_cast<const Plan&>(*own.of_group().replicated), domain, me_),
      domain->volume(),
      &op,
      me_ == 0 ? result : AnyFuture(),
      context_.runtime.options().dry,
      info.where,
      [&ranks = ranks_](const std::string& why) { ranks.suspect(why); }};
  made.push_back(
      {reduce_values(ranks_.mailbox(), failures_, std::move(reduction), std::move(below), above),
       &info, me_ == 0 ? result : AnyFuture(), true});
  result.state()->at = 0;
  return made;
}

namespace {

/// What an operation waits for.
struct Awaited {
  std::mutex mutex;
  std::optional<exec::LaterCompletion> later;
  bool is_there = false;
};

}  // namespace

void Replication::wait_for(const std::function<void(std::function<void()>)>& begin,
                           const exec::NodeInfo& info) {
  const auto awaited = std::make_shared<Awaited>();
  exec::Node& node = context_.scope.allocate(sizeof(std::shared_ptr<Awaited>));
  ::new (node.payload()) std::shared_ptr<Awaited>(awaited);
  node.kind = exec::NodeKind::other;
  node.info = &info;
  node.run = [](exec::Node& self, exec::Execution& execution) {
    auto& waits = self.payload_as<std::shared_ptr<Awaited>>();
    const std::shared_ptr<Awaited> kept = std::move(waits);
    waits.~shared_ptr();
    if (execution.failure != nullptr) return;
    exec::LaterCompletion later = exec::complete_later(self, execution);
    const std::lock_guard lock(kept->mutex);
    if (kept->is_there) later.complete();
    else kept->later = later;
  };
  const exec::NodeRef ref{&node, node.seq};
  context_.analysis.publish(context_.analysis.edges_to(node));
  begin([awaited] {
    const std::lock_guard lock(awaited->mutex);
    awaited->is_there = true;
    if (awaited->later) awaited->later->complete();
  });
  context_.runtime.executor().wait(
      context_.scope, [&] { return exec::is_complete(ref); }, ref, &info);
}

net::Bytes Replication::all_reduce(MessageKind kind, net::Bytes own, net::Combine combine,
                                   const exec::NodeInfo& info) {
  const auto result = std::make_shared<net::Bytes>();
  context_.deferred->untraceable("all shards waited for each other");
  ++counters_.collectives;
  wait_for(
      [&](std::function<void()> done) {
        net::all_reduce(ranks_.mailbox(), {number_of(kind), call_, info.where}, std::move(own),
                        std::move(combine), [result, done = std::move(done)](net::Bytes bytes) {
                          *result = std::move(bytes);
                          done();
                        });
      },
      info);
  return std::move(*result);
}

exec::FailureRef Replication::agree(const exec::FailureRef& own, const exec::NodeInfo& info) {
  call_ = context_.calls - 1;
  Writer writer;
  if (own != nullptr) failures_.write(writer, own);
  const auto first = [](net::Bytes& into, std::span<const std::byte> next) {
    const auto origin = [](std::span<const std::byte> bytes) {
      Reader reader(bytes);
      const std::uint64_t call = reader.number(), rank = reader.number();
      return std::tuple(call, rank, reader.number());
    };
    if (into.empty() || (!next.empty() && origin(next) < origin(into)))
      into.assign(next.begin(), next.end());
  };
  const net::Bytes result = all_reduce(MessageKind::agreement, writer.bytes(), first, info);
  failures_.sweep();
  if (result.empty()) return nullptr;
  Reader reader(result);
  return failures_.read(reader);
}

// --- errors ----------------------------------------------------------------------------------------------

void Replication::end_program(const std::string& error, const exec::NodeInfo& info) {
  call_ = context_.calls;
  if (!error.empty()) {
    ranks_.note_error(error);
    const auto bytes = std::as_bytes(std::span(error));
    all_reduce(
        MessageKind::error, {bytes.begin(), bytes.end()}, [](auto&, auto) {}, info);
  }
  if (check_ == nullptr) return;
  if (error.empty()) check_->finish("the end of the program", info.where);
  else check_->finish("an error that ends the program", info.where);
  wait_for([this](std::function<void()> done) { check_->when_open(0, std::move(done)); }, info);
  check_->end_program();
}

void Replication::end_run(const std::exception_ptr& error) noexcept {
  std::string text;
  try {
    text = "refrain: rank " + std::to_string(me_) +
           " has met an error that others may not have, so the run ends: " + text_of(error);
  } catch (const std::bad_alloc&) {}  // no memory even for the message
  ranks_.mailbox().transport().abort(text);
  std::abort();  // g++ 12 does not believe it
}

}  // namespace refrain::replication
