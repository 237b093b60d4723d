#pragma once
// Delays in the bytes of a record, made to be packed well: a context's uses are small numbers, among the uses of one
// rule; numbers of one kind stand together; and times are brief.

#include <span>
#include <string>
#include <vector>

#include "oracle/delays.hpp"
#include "oracle/grammar.hpp"
#include "oracle/varints.hpp"

namespace refrain::oracle {

/// Requires delays that Delays takes. Of each the number of events stays; their sum is that number of brief times.
void put_delays(std::string& bytes, const Grammar& grammar,
                std::span<const Delays::Recorded> delays);
/// By context. InvalidRecord unless put_delays() gives such bytes.
[[nodiscard]] std::vector<Delays::Recorded> take_delays(Taking& from, const Grammar& grammar);

}  // namespace refrain::oracle
