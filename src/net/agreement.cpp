#include "net/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "net/all_reduce.hpp"
#include "refrain/error.hpp"

namespace refrain::net {

namespace {

using nlohmann::json;

/// What ranks in a row have: {"rank", "items"} of the first of them, {"difference"}, a text, if they do not agree, and
/// {"least"} of all.
json parse(std::span<const std::byte> bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  return json::parse(text, text + bytes.size());
}
Bytes bytes_of(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// What is different between two ranks, or nothing.
std::string difference(const json& a, const json& b) {
  const json &of_a = a["items"], &of_b = b["items"];
  for (std::size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
    if (i >= of_a.size() || i >= of_b.size() || of_a[i][0] != of_b[i][0])
      return fmt::format("the ranks were not started alike: ranks {} and {} run different programs",
                         a["rank"].get<Rank>(), b["rank"].get<Rank>());
    if (of_a[i][1] != of_b[i][1])
      return fmt::format("the ranks were not started alike: {} on rank {} is '{}', on rank {} '{}'",
                         of_a[i][0].get<std::string>(), a["rank"].get<Rank>(),
                         of_a[i][1].get<std::string>(), b["rank"].get<Rank>(),
                         of_b[i][1].get<std::string>());
  }
  return {};
}

void add(Bytes& into, std::span<const std::byte> next) {
  json all = parse(into);
  const json other = parse(next);
  if (!all["difference"].get<std::string>().empty()) return;
  all["difference"] = difference(all, other);
  if (all["difference"].get<std::string>().empty()) all["difference"] = other["difference"];
  json& least = all["least"];
  for (std::size_t i = 0; i < std::min(least.size(), other["least"].size()); ++i)
    least[i] = std::min(least[i], other["least"][i]);
  into = bytes_of(all);
}

}  // namespace

void agree(Mailbox& mailbox, std::uint32_t kind, std::span<const Item> items,
           std::span<std::uint64_t> least, const std::function<void()>& idle) {
  json own{
      {"rank", mailbox.rank()}, {"items", json::array()}, {"difference", ""}, {"least", least}};
  for (const Item& item : items) own["items"].push_back({item.name, item.value});
  json all;
  std::atomic<bool> is_done{false};  // another thread may poll
  all_reduce(mailbox, {.kind = kind}, bytes_of(own), add, [&](const Bytes& result) {
    all = parse(result);
    is_done.store(true, std::memory_order_release);
  });
  while (!is_done.load(std::memory_order_acquire)) {
    if (mailbox.poll()) continue;
    if (idle) idle();
    std::this_thread::yield();
  }
  if (const auto verdict = all["difference"].get<std::string>(); !verdict.empty())
    throw InputError(verdict);
  std::ranges::copy(all["least"].get<std::vector<std::uint64_t>>(), least.begin());
}

}  // namespace refrain::net
