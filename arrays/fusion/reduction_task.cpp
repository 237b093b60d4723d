#include "fusion/reduction_task.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "check.hpp"
#include "fusion/elementwise_task.hpp"
#include "fusion/window.hpp"
#include "plain_task.hpp"
#include "storage/memory.hpp"

namespace refrain::arrays::detail {

namespace {

using kernels::kChunk;
constexpr Coord kChunkTerms = static_cast<Coord>(kChunk);
// Columns that are reduced at a time: their lanes fit the second-level cache.
constexpr Coord kStrip = 1024;

/// Where a task's results go.
struct Results {
  std::byte* values;
  std::int64_t* positions;  // of argmin and argmax by chunks
};

/// Terms of an output come one after the other.
class RowSink final : public BlockSink {
 public:
  RowSink(const Reduction& reduction, const Results& results)
      : reduction_(reduction), results_(results), size_(size_of(reduction.type)) {}

  void take(Coord first, std::size_t count, const std::byte* elements) override {
    for (auto left = static_cast<Coord>(count); left > 0;) {
      const Coord output = first / reduction_.terms, term = first % reduction_.terms;
      const Coord run = std::min(left, reduction_.terms - term);
      if (!run_) begin(output, term);
      run_->feed(elements, static_cast<std::size_t>(run));
      if (term + run == reduction_.terms) end(output);
      first += run;
      left -= run;
      elements += static_cast<std::size_t>(run) * size_;
    }
  }
  /// A range of chunks may end in the middle of an output.
  void finish() {
    if (run_) run_->finish();
  }

 private:
  [[nodiscard]] std::byte* result(Coord index) const {
    return results_.values + index * static_cast<Coord>(size_);
  }
  void begin(Coord output, Coord term) {
    if (reduction_.by_chunks)
      run_.emplace(reduction_.op, reduction_.type,
                   result(output * reduction_.chunks() + term / kChunkTerms));
    else run_.emplace(reduction_.op, reduction_.type);
  }
  void end(Coord output) {
    if (reduction_.by_chunks) run_->finish();
    else run_->result(result(output));
    run_.reset();
  }

  const Reduction& reduction_;
  const Results results_;
  const std::size_t size_;
  std::optional<kernels::Sequence> run_;
};

/// The same for argmin and argmax.
class ArgRowSink final : public BlockSink {
 public:
  ArgRowSink(const Reduction& reduction, const Results& results)
      : reduction_(reduction), results_(results), size_(size_of(reduction.type)) {}

  void take(Coord first, std::size_t count, const std::byte* elements) override {
    const Coord piece = reduction_.by_chunks ? kChunkTerms : reduction_.terms;
    for (auto left = static_cast<Coord>(count); left > 0;) {
      const Coord output = first / reduction_.terms, term = first % reduction_.terms;
      const Coord end = std::min((term / piece + 1) * piece, reduction_.terms);
      const Coord run = std::min(left, end - term);
      if (!run_) run_.emplace(reduction_.op, reduction_.type, term);
      run_->feed(elements, static_cast<std::size_t>(run));
      if (term + run == end) {
        if (reduction_.by_chunks) {
          const Coord at = output * reduction_.chunks() + term / kChunkTerms;
          std::memcpy(results_.values + at * static_cast<Coord>(size_), run_->value(), size_);
          results_.positions[at] = run_->position();
        } else {
          reinterpret_cast<std::int64_t*>(results_.values)[output] = run_->position();
        }
        run_.reset();
      }
      first += run;
      left -= run;
      elements += static_cast<std::size_t>(run) * size_;
    }
  }

 private:
  const Reduction& reduction_;
  const Results results_;
  const std::size_t size_;
  std::optional<kernels::ArgSequence> run_;
};

/// Brings rows of `width` elements together and gives each to `row`.
template <class Row>
class StripSink final : public BlockSink {
 public:
  StripSink(Coord width, std::size_t size, Row row)
      : width_(width), size_(size), row_(row), buffer_(static_cast<std::size_t>(width) * size) {}

  void take(Coord, std::size_t count, const std::byte* elements) override {
    for (auto left = static_cast<Coord>(count); left > 0;) {
      const Coord run = std::min(left, width_ - held_);
      const std::size_t bytes = static_cast<std::size_t>(run) * size_;
      if (run == width_) {
        row_(elements);
      } else {
        std::memcpy(buffer_.data() + static_cast<std::size_t>(held_) * size_, elements, bytes);
        held_ += run;
        if (held_ == width_) {
          row_(buffer_.data());
          held_ = 0;
        }
      }
      left -= run;
      elements += bytes;
    }
  }

 private:
  const Coord width_;
  const std::size_t size_;
  Row row_;
  std::vector<std::byte> buffer_;
  Coord held_ = 0;
};

/// One task's way through a plan with a reduction.
class ReductionRun {
 public:
  ReductionRun(const TaskFrame& frame, const ElementwiseCall& call)
      : plan_(call.plan()),
        reduction_(*plan_.reduction),
        constants_(call.constants()),
        size_(size_of(reduction_.type)) {
    const std::size_t slots = plan_.slots.size();
    REFRAIN_ARRAYS_CHECK(slots <= Window::kMostArrays, "windows are bounded");
    for (std::size_t i = 0; i < slots; ++i) slots_[i] = element_zero(frame, i);
    results_.values = element_zero(frame, slots);
    results_.positions = slots + 1 < frame.arguments.size()
                             ? reinterpret_cast<std::int64_t*>(element_zero(frame, slots + 1))
                             : nullptr;
    first_ = reduction_.units[frame.rank];
    last_ = reduction_.units[frame.rank + 1];
  }

  void run(std::size_t rank) {
    if (!reduction_.columns) return rows(plan_.split[rank], plan_.split[rank + 1]);
    if (reduction_.by_chunks) return chunks_of_columns();
    for (Coord at = first_; at < last_; at += kStrip) strip(at, std::min(at + kStrip, last_));
  }

 private:
  void go(Coord begin, Coord end, BlockSink& sink) {
    plan_.program.run(begin, end, slots_, constants_, &sink);
  }

  void rows(Coord begin, Coord end) {
    if (is_arg(reduction_.op)) {
      ArgRowSink sink(reduction_, results_);
      return go(begin, end, sink);
    }
    RowSink sink(reduction_, results_);
    go(begin, end, sink);
    sink.finish();
  }

  // The terms begin .. end - 1 of the columns first .. last - 1, row by row.
  template <class Row>
  void each_row(Coord begin, Coord end, Coord first, Coord last, Row&& row) {
    StripSink<Row&> sink(last - first, size_, row);
    const Coord width = reduction_.outputs;
    if (last - first == width) return go(begin * width, end * width, sink);
    for (Coord term = begin; term < end; ++term)
      go(term * width + first, term * width + last, sink);
  }

  void strip(Coord first, Coord last) {
    const auto width = static_cast<std::size_t>(last - first);
    if (is_arg(reduction_.op)) {
      kernels::ArgColumns columns(reduction_.op, reduction_.type, width);
      each_row(0, reduction_.terms, first, last, [&](const std::byte* row) { columns.feed(row); });
      std::copy_n(columns.positions(), width,
                  reinterpret_cast<std::int64_t*>(results_.values) + first);
      return;
    }
    kernels::Columns columns(reduction_.op, reduction_.type, width);
    each_row(0, reduction_.terms, first, last, [&](const std::byte* row) { columns.feed(row); });
    columns.result(results_.values + first * static_cast<Coord>(size_));
  }

  void chunks_of_columns() {
    const Coord width = reduction_.outputs;
    const Coord begin = first_ * kChunkTerms;
    const Coord end = std::min(last_ * kChunkTerms, reduction_.terms);
    std::byte* to = results_.values + first_ * width * static_cast<Coord>(size_);
    if (!is_arg(reduction_.op)) {
      kernels::Columns columns(reduction_.op, reduction_.type, static_cast<std::size_t>(width), to);
      each_row(begin, end, 0, width, [&](const std::byte* row) { columns.feed(row); });
      columns.finish();
      return;
    }
    for (Coord chunk = first_; chunk < last_; ++chunk) {
      const Coord from = chunk * kChunkTerms, upto = std::min(from + kChunkTerms, end);
      kernels::ArgColumns columns(reduction_.op, reduction_.type, static_cast<std::size_t>(width),
                                  from);
      each_row(from, upto, 0, width, [&](const std::byte* row) { columns.feed(row); });
      std::memcpy(results_.values + chunk * width * static_cast<Coord>(size_), columns.values(),
                  static_cast<std::size_t>(width) * size_);
      std::copy_n(columns.positions(), width, results_.positions + chunk * width);
    }
  }

  const Plan& plan_;
  const Reduction& reduction_;
  const Constant* constants_;
  const std::size_t size_;
  std::byte* slots_[Window::kMostArrays];
  Results results_;
  Coord first_, last_;  // units
};

void run_reduction(const TaskFrame& frame) {
  const auto& call = *static_cast<const ElementwiseCall*>(frame.values);
  ReductionRun(frame, call).run(frame.rank);
}

void run_combine(const TaskFrame& frame) {
  const auto& call = *static_cast<const CombineCall*>(frame.values);
  std::byte* to = element_zero(frame, 0);
  const std::byte* from = element_zero(frame, 1);
  const auto size = static_cast<Coord>(size_of(call.type));
  const auto chunks = static_cast<std::size_t>(call.chunks);
  if (is_arg(call.op)) {
    const auto* positions = reinterpret_cast<const std::int64_t*>(element_zero(frame, 2));
    auto* results = reinterpret_cast<std::int64_t*>(to);
    if (call.columns) {
      kernels::ArgColumns columns(call.op, call.type, static_cast<std::size_t>(call.outputs));
      for (Coord chunk = 0; chunk < call.chunks; ++chunk)
        columns.merge(from + chunk * call.outputs * size, positions + chunk * call.outputs);
      std::copy_n(columns.positions(), call.outputs, results);
      return;
    }
    for (Coord output = 0; output < call.outputs; ++output) {
      kernels::ArgSequence sequence(call.op, call.type);
      for (Coord at = output * call.chunks; at < (output + 1) * call.chunks; ++at)
        sequence.merge(from + at * size, positions[at]);
      results[output] = sequence.position();
    }
  } else if (call.columns) {
    kernels::Columns columns(call.op, call.type, static_cast<std::size_t>(call.outputs));
    for (Coord chunk = 0; chunk < call.chunks; ++chunk)
      columns.feed(from + chunk * call.outputs * size);
    columns.result(to);
  } else {
    for (Coord output = 0; output < call.outputs; ++output) {
      kernels::Sequence run(call.op, call.type);
      run.feed(from + output * call.chunks * size, chunks);
      run.result(to + output * size);
    }
  }
}

}  // namespace

std::string_view name_of(kernels::Reduce op) {
  constexpr std::string_view names[kernels::kReduces] = {"sum", "prod", "min",    "max",
                                                         "any", "all",  "argmin", "argmax"};
  return names[static_cast<int>(op)];
}

DynamicTask make_reduction_task(const std::string& name) { return plain_task<run_reduction>(name); }

const DynamicTask& combine_task() {
  static const DynamicTask task = plain_task<run_combine>("combine");
  return task;
}

}  // namespace refrain::arrays::detail
