#pragma once
// Signatures of calls: what can affect the analysis, as names and slots (data/region_tree.hpp,
// launch/task_record.hpp): no address, thread or time, so that a program gives the same signatures in
// every run. The token is their 64-bit hash: it selects, the words prove.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "refrain/region.hpp"

namespace refrain::runtime {

class Signature {
 public:
  /// A new kind comes last, with its name: tokens of the others stay as they are.
  enum class Call : std::uint8_t { launch, fill, copy, access, attach, detach, destroy, reduce };
  static constexpr const char* names[] = {"launch", "fill",   "copy",    "access",
                                          "attach", "detach", "destroy", "reduce"};

  explicit Signature(Call call) : call_(call) { add(static_cast<std::uint64_t>(call)); }
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::string_view name);
  /// Depth of the context that made the tree, slot of the tree, name within the tree.
  void add(const AnyRegion& region);
  void add(const AnyPartition& partition);
  void add(const AnyField& field);

  [[nodiscard]] std::uint64_t token() const;
  /// What people call the call: "fill".
  [[nodiscard]] const char* call_name() const { return name_of(call_); }
  [[nodiscard]] static const char* name_of(Call call) {
    return names[static_cast<std::size_t>(call)];
  }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  Call call_;
  std::vector<std::uint64_t> words_;
};

}  // namespace refrain::runtime
