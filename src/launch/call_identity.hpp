#pragma once
// The identity of a call, in three forms. The *key* finds what this process remembers of the call: addresses and unique
// numbers, compared in full. The *signature* is the same in every run and on every process: names and slots
// (data/region_tree.hpp, launch/task_record.hpp), no address, thread, time or mapping. Its 64-bit hash is the *token*
// of the call: it selects, the key proves. The *quick comparison* tells at once that a launch is the one before; where
// it cannot, the key decides.
//
// Any of them covers everything that the analysis of the call depends on, and no value that a task is given.
//
// What a call consists of is listed once, by visit(call, form). A form is a visitor, which makes of each part what it
// needs, and ends the visit when it returns false:
//
//   number(word)          a number that is the same everywhere
//   local(word)           one that matters in this process only
//   object(address)       an object that has a name everywhere: a task, an operator, a projection, an index space
//   handle(handle, use)   a region or partition, with what is done to it: a number below 2^30
//   field(field), domain(domain)
//   begin(part, i)        the beginning of a part of a launch, for messages
//
// A new field of a requirement is a line of visit(), and a word more in kKeyWordsOfArgument and in
// RememberedLaunch::words_for.

#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "data/index_space.hpp"
#include "data/projection.hpp"
#include "data/region_tree.hpp"
#include "launch/task_record.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::runtime {

/// What kind of call; `region` and `partition`: it makes one; `send_to_all`: a part of another call, which all shards make
/// before it. A new kind comes last, and so does its name
/// (CallIdentity::name): tokens of the others stay as they are.
enum class CallKind : std::uint8_t {
  launch,
  fill,
  copy,
  access,
  attach,
  detach,
  destroy,
  reduce,
  region,
  partition,
  send_to_all
};

/// The parts of a launch, as messages tell them apart.
enum class LaunchPart : std::uint8_t { task, hints, counts, mapper, domain, argument };

/// A call that is no launch: what it names, in a fixed order.
struct CallIdentity {
  using Part =
      std::variant<const AnyRegion*, const AnyPartition*, const AnyField*, const ReductionOp*,
                   const data::IndexSpace*, const Projection::Impl*, std::uint64_t>;
  CallKind kind;
  Where where;
  boost::container::static_vector<Part, 5> parts{};
  const char* partition_operator = nullptr;  ///< of one that makes a partition: "halo"

  /// What people call it.
  [[nodiscard]] const char* name() const {
    constexpr const char* names[] = {"launch", "fill",      "copy",       "access",
                                     "attach", "detach",    "destroy",    "reduce",
                                     "region", "partition", "send to all"};
    return partition_operator ? partition_operator : names[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::vector<std::uint64_t> key(const data::Forest& forest) const;
  [[nodiscard]] std::uint64_t token() const;
  [[nodiscard]] std::vector<const AnyRegion*> regions() const;
};

// --- what a call consists of ---------------------------------------------------------------------------

/// Bits of the words of a launch's hints and counts; the number of requirements is above those.
inline constexpr std::uint64_t kPriorityInKey = ~std::uint64_t{0} << 32, kInlineInKey = 1;
inline constexpr std::uint32_t kGroupInKey = 2, kResultInKey = 1;

// Inlined in each form, which then takes no call and no memory: the quick comparison is on the way of a replayed launch.
template <class Form>
[[gnu::always_inline]] inline bool visit(const Requirement& r, Form&& form) {
  const std::uint32_t use = std::uint32_t{r.relaxed} << 8 | static_cast<std::uint32_t>(r.privilege);
  return (r.partition.tree != nullptr ? form.handle(r.partition, use)
                                      : form.handle(r.region, use)) &&
         form.field(r.field) && form.object(r.op) && form.object(r.projection.impl());
}

template <class Form>
[[gnu::always_inline]] inline bool visit(const LaunchDomain& domain, Form&& form) {
  if (!form.number(static_cast<std::uint64_t>(domain.dim))) return false;
  if (domain.sparse != nullptr) return form.object(domain.sparse->space.get());
  for (int d = 0; d < std::min(domain.dim, 3); ++d)
    if (!form.number(static_cast<std::uint64_t>(domain.rect.lo[d])) ||
        !form.number(static_cast<std::uint64_t>(domain.rect.hi[d])))
      return false;
  return true;
}

/// The line of the program, and a number below 2^32: both matter in this process only.
template <class Form>
[[gnu::always_inline]] inline bool visit(const Where& where, std::uint64_t word, Form&& form) {
  if (!form.local(reinterpret_cast<std::uintptr_t>(where.file_name()))) return false;
  form.begin(LaunchPart::counts);
  return form.local(std::uint64_t{where.line()} << 32 | word);
}

/// `mapper_epoch`: while it stays, what the mapper has said holds.
template <class Form>
[[gnu::always_inline]] inline bool visit(const LaunchRequest& launch, std::uint64_t mapper_epoch,
                                         Form&& form) {
  form.begin(LaunchPart::task);
  const std::uint32_t counts = static_cast<std::uint32_t>(launch.requirements.size()) * 4 +
                               kGroupInKey * (launch.domain != nullptr) +
                               kResultInKey * launch.wants_future;
  if (!form.object(launch.task) || !visit(launch.where, counts, form)) return false;
  form.begin(LaunchPart::hints);
  if (!form.number(std::uint64_t{static_cast<std::uint32_t>(launch.hints.priority)} << 32 |
                   launch.futures.size() << 1 | kInlineInKey * launch.hints.inline_if_ready))
    return false;
  form.begin(LaunchPart::mapper);
  if (!form.local(mapper_epoch)) return false;
  form.begin(LaunchPart::domain);
  if (!form.domain(launch.domain)) return false;
  for (std::size_t i = 0; i < launch.requirements.size(); ++i) {
    form.begin(LaunchPart::argument, i);
    if (!visit(launch.requirements[i], form)) return false;
  }
  return true;
}

template <class Form>
bool visit(const CallIdentity& call, Form&& form) {
  const auto show = [&form](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_same_v<Part, std::uint64_t>) return form.number(part);
    else if constexpr (std::is_same_v<Part, const AnyField*>) return form.field(*part);
    else if constexpr (std::is_same_v<Part, const AnyRegion*> ||
                       std::is_same_v<Part, const AnyPartition*>)
      return form.handle(*part, 0);
    else return form.object(part);
  };
  if (!form.number(static_cast<std::uint64_t>(call.kind)) || !visit(call.where, 0, form))
    return false;
  for (const CallIdentity::Part& part : call.parts)
    if (!std::visit(show, part)) return false;
  return true;
}

// --- forms ---------------------------------------------------------------------------------------------

/// Tells partitions from regions, beside what is done to them.
inline constexpr std::uint32_t kPartitionInKey = std::uint32_t{1} << 30;
/// The number of a handle within its tree in the upper half of a word, and `lower`.
inline std::uint64_t handle_word(const AnyRegion& region, std::uint32_t lower) {
  return std::uint64_t{region.node} << 32 | lower;
}
inline std::uint64_t handle_word(const AnyPartition& partition, std::uint32_t lower) {
  return std::uint64_t{partition.index} << 32 | kPartitionInKey | lower;
}

/// What the forms that are made of words of this process have in common: put(word) says whether to go on.
template <class Put>
class Words {
 public:
  explicit Words(Put put) : put_(put) {}

  void begin(LaunchPart, std::size_t = 0) {}
  bool number(std::uint64_t word) { return put_(word); }
  bool local(std::uint64_t word) { return put_(word); }
  bool object(const void* address) { return put_(reinterpret_cast<std::uint64_t>(address)); }
  bool field(const AnyField& field) {
    return put_(field.key) && object(field.name.data()) && object(field.type);
  }
  bool domain(const LaunchDomain* domain) { return domain == nullptr || visit(*domain, *this); }

 protected:
  Put put_;
};

/// UsageError: the argument names nothing that is alive.
[[noreturn, gnu::noinline, gnu::cold]] void fail_dead(const LaunchRequest& launch,
                                                      std::size_t argument);

/// The key. Of a handle: the key of its tree, then in one word its own number and what is done to it.
template <class Put>
class Key : public Words<Put> {
 public:
  /// `launch`: its handles are looked at, UsageError when one is dead; null where they are known to be alive.
  Key(Put put, const LaunchRequest* launch, const data::Forest* forest)
      : Words<Put>(put), launch_(launch), forest_(forest) {}

  void begin(LaunchPart part, std::size_t argument = 0) { part_ = {part, argument}; }
  /// The one that the visit has come to, and which of the arguments.
  [[nodiscard]] std::pair<LaunchPart, std::size_t> part() const { return part_; }
  template <class Handle>
  bool handle(const Handle& handle, std::uint32_t use) {
    if (launch_ != nullptr && !is_usable(handle)) [[unlikely]]
      fail_dead(*launch_, part_.second);
    return this->put_(forest_ == nullptr ? handle.tree->uid() : handle.tree->key_in(*forest_)) &&
           this->put_(handle_word(handle, use));
  }

 private:
  /// A tree of an enclosing context may have been destroyed since this task was launched: it may still use what it was
  /// given.
  template <class Handle>
  [[nodiscard]] bool is_usable(const Handle& handle) const {
    return handle.tree != nullptr && (handle.tree->in(*forest_) ? handle.tree->names_living(handle)
                                                                : handle.tree->knows(handle));
  }

  const LaunchRequest* const launch_;
  const data::Forest* const forest_;
  std::pair<LaunchPart, std::size_t> part_;
};

/// How many words of a key are a requirement's, and how many those of a launch without any are at most.
inline constexpr std::size_t kKeyWordsOfArgument = 7, kMostKeyWords = 12;

/// Whether the launch has this key.
bool has_key(const LaunchRequest& launch, const data::Forest& forest, std::uint64_t mapper_epoch,
             std::span<const std::uint64_t> key);
/// Which part of the launch, whose handles are alive, the word of its key with this number belongs to.
std::pair<LaunchPart, std::size_t> part_of_key(const LaunchRequest& launch, std::size_t word);
/// The name of the region or partition that two words of a key say, of a tree that has no other name by now.
[[nodiscard]] std::string name_in_key(data::RegionTree& tree, std::span<const std::uint64_t> words);

class Signature {
 public:
  /// `with_slots` false: the signature has a task's name only. Bodies may make tasks of that name at the same time, so the
  /// slot among them is not the same everywhere.
  explicit Signature(bool with_slots = true) : with_slots_(with_slots) {}
  [[nodiscard]] std::uint64_t token() const;

  static void begin(LaunchPart, std::size_t = 0) {}
  bool number(std::uint64_t word) { return words_.push_back(word), true; }
  static bool local(std::uint64_t) { return true; }
  bool object(const detail::TaskRecord* task) {
    return with_slots_ ? number(task->id()) : name(task->name());
  }
  bool object(const Projection::Impl* projection) {
    return number(data::projection_id(projection));
  }
  bool object(const data::IndexSpace* points) { return number(points->id()); }
  bool object(const ReductionOp* op);
  /// Depth of the context that made the tree, slot of the tree, the name within it, and what is done to it.
  template <class Handle>
  bool handle(const Handle& handle, std::uint32_t use) {
    return number(std::uint64_t{handle.tree->slot()} << 32 |
                  static_cast<std::uint32_t>(handle.tree->forest().depth())) &&
           number(handle.tree->name_word(handle)) &&
           number(static_cast<std::uint32_t>(handle_word(handle, use)));
  }
  bool field(const AnyField& field) { return number(field.key) && name(field.type->name); }
  bool domain(const LaunchDomain* domain);
  bool name(std::string_view name);

 private:
  const bool with_slots_;
  boost::container::small_vector<std::uint64_t, 96> words_;  ///< of some ten requirements
};

[[nodiscard]] std::uint64_t token_of(const LaunchRequest& launch, bool with_slots = true);

/// The quick comparison: handles as they are, without a look at what they name. While nothing dies, none of them comes to
/// mean something else.
class RememberedLaunch {
 public:
  /// Words that a launch with so many requirements takes.
  static constexpr std::size_t words_for(std::size_t requirements) { return 12 + 8 * requirements; }
  /// What this launch names is alive now. `words`: where its words are kept. Nothing is remembered of one that could not
  /// be told apart by this: of a sparse domain, or a region of an enclosing context, whose end this forest does not see.
  void remember(const LaunchRequest& launch, const data::Forest& forest, std::uint64_t mapper_epoch,
                std::uint64_t* words);
  /// Whether the launch is the one remembered. Its values are not looked at.
  [[nodiscard]] bool is(const LaunchRequest& launch, const data::Forest& forest,
                        std::uint64_t mapper_epoch) const {
    const std::uint64_t* next = words_;
    return forest.deaths() == deaths_ &&
           visit(launch, mapper_epoch,
                 Form([&next](std::uint64_t word) { return *next++ == word; }));
  }

 private:
  template <class Put>
  class Form : public Words<Put> {
   public:
    explicit Form(Put put) : Words<Put>(put) {}
    /// The address of a sparse one may come to be another's.
    bool domain(const LaunchDomain* domain) {
      return domain == nullptr || (domain->sparse == nullptr && Words<Put>::domain(domain));
    }
    template <class Handle>
    bool handle(const Handle& handle, std::uint32_t use) {
      // Its tree, then its number and its generation: as they lie, they take one load each.
      const auto [tree, place] = std::bit_cast<std::array<std::uint64_t, 2>>(handle);
      return this->put_(tree) && this->put_(place) &&
             this->put_(static_cast<std::uint32_t>(handle_word(handle, use)));
    }
  };

  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  const std::uint64_t* words_ = nullptr;
  std::uint64_t deaths_ = kNothing;  ///< so many there never are: nothing is remembered
};

}  // namespace refrain::runtime
