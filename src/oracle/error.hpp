#pragma once
// What goes wrong in the oracle. It stands alone, so these are not Errors of Refrain.

#include <stdexcept>

namespace refrain::oracle {

/// Base of what the oracle throws.
class OracleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Rules that are no grammar.
class InvalidGrammar : public OracleError {
 public:
  using OracleError::OracleError;
};

}  // namespace refrain::oracle
