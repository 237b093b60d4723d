#pragma once
// What goes wrong in the oracle. It stands alone, so these are not Errors of Refrain.

#include <cstdint>
#include <stdexcept>
#include <string>

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
/// Bytes that are no record of a thread.
class InvalidRecord : public OracleError {
 public:
  using OracleError::OracleError;
};
/// A file cannot be read or written, or is not what it should be.
class FileError : public OracleError {
 public:
  FileError(const std::string& file, const std::string& what) : OracleError(file + ": " + what) {}
  /// `offset`: in bytes, where something is wrong.
  FileError(const std::string& file, std::uint64_t offset, const std::string& what)
      : FileError(file, "at byte " + std::to_string(offset) + ": " + what) {}
};

}  // namespace refrain::oracle
