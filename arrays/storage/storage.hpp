#pragma once
// Storage of arrays: regions with one field, and the pool that dead arrays' storage goes back to. The next array of
// the same size and type takes it at once, although the tasks that use it may not have begun: the runtime keeps them
// in order. So a loop that makes arrays makes no regions after its first iterations, and its launches repeat (the
// automatic tracing paper, section 2). Of several, the one that was made first is taken, not the one that was given
// back last: what an iteration takes then depends on what lives at its beginning, and on nothing before, so that loops
// settle soon. In the order in which storage is given back, a loop with many temporaries permutes them, and may need
// dozens of iterations until it is where it began.
//
// What is taken depends on the program's calls alone, never on what is in flight: shards take the same.

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "refrain/arrays/array.hpp"
#include "refrain/context.hpp"
#include "storage/ranges.hpp"
#include "storage/tiling.hpp"

namespace refrain::arrays::detail {

/// The field that a storage's elements are in.
const AnyField& field_of(DType type);

/// A region of `tiling().elements` elements.
class Storage {
 public:
  Storage(Context& context, std::shared_ptr<const Tiling> tiling, DType type, const Where& where);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] const AnyRegion& region() const { return region_; }
  [[nodiscard]] const AnyField& field() const { return field_of(type_); }
  [[nodiscard]] const Tiling& tiling() const { return *tiling_; }
  [[nodiscard]] DType type() const { return type_; }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(tiling_->elements) * size_of(type_);
  }
  /// The partition whose piece i are the elements of range i. Made when first asked for; a storage keeps the
  /// last kMostPartitions of them.
  const AnyPartition& partition(Context& context, const std::shared_ptr<const Ranges>& ranges,
                                const Where& where);
  /// What a launch of so many points asks for: all of it (null), or per point the elements of a range.
  Requirement requirement(Context& context, Privilege privilege,
                          const std::shared_ptr<const Ranges>& ranges, int points,
                          const Where& where);

  // The pool's own.
  std::size_t place = 0;     ///< among all
  std::uint64_t number = 0;  ///< in the order in which storage was made

 private:
  static constexpr std::size_t kMostPartitions = 64;
  struct Part {
    std::shared_ptr<const Ranges> ranges;
    AnyPartition partition;
  };
  std::shared_ptr<const Tiling> tiling_;
  DType type_;
  AnyRegion region_;
  std::vector<Part> parts_;  // the one used last at the end
};

/// All storage of a session.
class Pool {
 public:
  /// `room`: bytes that there are for all storage.
  Pool(Context& context, std::size_t room) : context_(context), room_(room) {}
  ~Pool();

  /// Room for so much storage, which is taken later, or not at all (`forgo`). False where living arrays and earlier
  /// promises leave none.
  [[nodiscard]] bool promise(std::size_t bytes);
  void forgo(std::size_t bytes) noexcept { promised_ -= bytes; }
  /// Storage that was promised, with arbitrary contents. `where`: the line of the program that it is for.
  Storage& take(const std::shared_ptr<const Tiling>& tiling, DType type, const Where& where);
  void give_back(Storage& storage) noexcept;
  /// The runtime frees storage when the last task that uses it is done. A program far ahead of its tasks has to wait
  /// for them now and then, so that what is still to be freed stays little beside what is alive. True: now; the
  /// caller does.
  [[nodiscard]] bool must_wait();

  [[nodiscard]] std::size_t bytes_alive() const { return alive_; }
  [[nodiscard]] std::size_t bytes_promised() const { return promised_; }
  [[nodiscard]] std::size_t bytes_pooled() const { return pooled_; }
  [[nodiscard]] std::size_t bytes_most() const { return most_; }
  [[nodiscard]] std::uint64_t made() const { return made_; }
  [[nodiscard]] std::uint64_t reused() const { return reused_; }

 private:
  /// Dead storage of one kind; when it was last used orders kinds by age.
  struct Shelf {
    std::vector<Storage*> free;  // a heap, the first made on top; has room for all that were made
    std::size_t made = 0;
    std::uint64_t used = 0;
  };
  using Key = std::uint64_t;  // the tiling's number and the type
  static Key key_of(const Tiling& tiling, DType type);
  static bool comes_later(const Storage* a, const Storage* b);
  Storage& take_first(Shelf& shelf);
  void make_room(std::size_t bytes, const Where& where);
  void end(Storage& storage, const Where& where);

  Context& context_;
  const std::size_t room_;
  std::unordered_map<Key, Shelf> shelves_;  // one for each kind of which there is storage
  std::vector<std::unique_ptr<Storage>> all_;
  std::size_t alive_ = 0, promised_ = 0, pooled_ = 0, most_ = 0;
  std::size_t ended_ = 0;  // bytes, since the last wait
  std::uint64_t made_ = 0, reused_ = 0, uses_ = 0, next_number_ = 0;
};

}  // namespace refrain::arrays::detail
