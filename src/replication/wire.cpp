#include "replication/wire.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "refrain/error.hpp"

namespace refrain::replication {

std::span<const std::byte> Reader::take(std::size_t size) {
  if (size > bytes_.size()) throw net::WrongMessage();
  const auto taken = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return taken;
}

namespace {

std::uint64_t trailer_mark(std::size_t size) { return 0x72656c6961727421 + size; }

}  // namespace

void begin_trailer(Writer& to, std::size_t size) { to.number(trailer_mark(size)); }

Reader trailer_of(std::span<const std::byte> message, std::size_t size) {
  Reader trailer(message.subspan(size));
  if (!trailer.at_end() && trailer.number() != trailer_mark(size)) throw net::WrongMessage();
  return trailer;
}

void KnownFailures::write(Writer& to, const exec::FailureRef& failure) {
  const exec::Failure::Origin& origin = failure->origin();
  REFRAIN_ASSERT(origin.is_known_to_shards(), "a failure that others are told has a name there");
  {
    const std::lock_guard lock(mutex_);
    known_.emplace(origin, failure);
  }
  to.number(origin.seq);
  to.number(origin.rank);
  to.number(origin.argument);
  int levels = 1;
  std::string text, original;
  try {
    std::rethrow_exception(failure->error());
  } catch (const TaskFailed& failed) {
    text = failed.what();
    original = text_of(failed.original());
    levels = failed.levels();
  } catch (...) { text = original = text_of(std::current_exception()); }
  to.number(static_cast<std::uint64_t>(levels));
  to.text(text);
  to.text(original);
}

exec::FailureRef KnownFailures::read(Reader& from) {
  exec::Failure::Origin origin{scope_, from.number()};
  origin.rank = static_cast<std::uint32_t>(from.number());
  origin.argument = static_cast<std::uint32_t>(from.number());
  const int levels = static_cast<int>(from.number());
  const std::string text = from.text(), original = from.text();
  const std::lock_guard lock(mutex_);
  const auto [entry, added] = known_.try_emplace(origin);
  if (added)
    entry->second = exec::Failure::of_elsewhere(
        origin, std::make_exception_ptr(
                    TaskFailed(text, std::make_exception_ptr(Error(original)), levels)));
  return entry->second;
}

void KnownFailures::sweep() {
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second->use_count() == 1; });
}

void write(Writer& to, std::span<const analysis::Poisoned> poisoned, KnownFailures& failures) {
  to.number(poisoned.size());
  for (const analysis::Poisoned& each : poisoned) {
    failures.write(to, each.failure);
    to.number(each.points->boxes().size());
    for (const data::Box& box : each.points->boxes())
      for (int d = 0; d < 3; ++d) {
        to.number(static_cast<std::uint64_t>(box.lo[d]));
        to.number(static_cast<std::uint64_t>(box.hi[d]));
      }
  }
}

std::vector<analysis::Poisoned> read_poisoned(Reader& from, int dim, KnownFailures& failures) {
  std::vector<analysis::Poisoned> poisoned(from.number());
  for (analysis::Poisoned& each : poisoned) {
    each.failure = failures.read(from);
    data::BoxList boxes;
    for (std::size_t left = from.number(); left > 0; --left) {
      data::Box box;
      for (int d = 0; d < 3; ++d) {
        box.lo[d] = static_cast<Coord>(from.number());
        box.hi[d] = static_cast<Coord>(from.number());
      }
      boxes.push_back(box);
    }
    each.points = data::IndexSpace::from_boxes(dim, std::move(boxes));
  }
  return poisoned;
}

}  // namespace refrain::replication
