#pragma once
// The oracle in C++: refrain/oracle.h with handles that end by themselves, and exceptions. Needs nothing of the rest of
// Refrain but the library Refrain::oracle. What a function does is said there.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "refrain/oracle.h"

namespace refrain {

/// What refrain_oracle_error() says.
class OracleFailure : public std::runtime_error {
 public:
  OracleFailure() : std::runtime_error(refrain_oracle_error()) {}
};

/// One thread's events; used by one thread at a time.
class OracleStream {
 public:
  /// This thread's stream of the run that the environment tells of; none, if it tells of none. Not to be kept beyond
  /// the thread's end.
  static std::optional<OracleStream> here() {
    refrain_oracle_stream* const stream = refrain_oracle_here();
    if (stream == nullptr) return std::nullopt;
    return OracleStream(Handle(stream, [](refrain_oracle_stream*) {}));
  }

  /// The number of the event with that name.
  std::uint32_t event(const std::string& name) {
    const std::uint32_t number = refrain_oracle_event(handle_.get(), name.c_str());
    if (number == REFRAIN_ORACLE_NONE) throw OracleFailure();
    return number;
  }
  /// Empty: there is no such event.
  [[nodiscard]] std::string_view name(std::uint32_t event) const {
    const char* const name = refrain_oracle_name(handle_.get(), event);
    return name == nullptr ? std::string_view() : name;
  }

  refrain_oracle_tracked submit(std::uint32_t event) {
    return checked(refrain_oracle_submit(handle_.get(), event));
  }
  refrain_oracle_tracked submit(std::uint32_t event, std::uint64_t nanoseconds) {
    return checked(refrain_oracle_submit_at(handle_.get(), event, nanoseconds));
  }

  [[nodiscard]] bool predicts() const { return refrain_oracle_predicts(handle_.get()) != 0; }
  [[nodiscard]] refrain_oracle_prediction predict(std::uint64_t distance) {
    return checked(refrain_oracle_predict(handle_.get(), distance));
  }
  [[nodiscard]] refrain_oracle_occurrence next(std::uint32_t event) {
    return checked(refrain_oracle_next(handle_.get(), event));
  }

  void set_note(const std::string& name, std::string_view bytes) {
    if (refrain_oracle_set_note(handle_.get(), name.c_str(), bytes.data(), bytes.size()) != 0)
      throw OracleFailure();
  }
  [[nodiscard]] std::optional<std::string_view> note(const std::string& name) const {
    std::size_t size = 0;
    const void* const bytes = refrain_oracle_note(handle_.get(), name.c_str(), &size);
    if (bytes == nullptr) return std::nullopt;
    return std::string_view(static_cast<const char*>(bytes), size);
  }

  /// Writes what is recorded; the stream cannot be used any more. The destructor does it, too, but says of no failure.
  void leave() {
    refrain_oracle_stream* const stream = handle_.release();
    handle_ = Handle(stream, [](refrain_oracle_stream*) {});
    if (refrain_oracle_leave(stream) != 0) throw OracleFailure();
  }

 private:
  friend class Oracle;
  using Handle = std::unique_ptr<refrain_oracle_stream, void (*)(refrain_oracle_stream*)>;

  explicit OracleStream(Handle handle) : handle_(std::move(handle)) {}

  static refrain_oracle_tracked checked(refrain_oracle_tracked tracked) {
    if (tracked == REFRAIN_ORACLE_FAILED) throw OracleFailure();
    return tracked;
  }
  template <class Prediction>
  static Prediction checked(const Prediction& prediction) {
    if (prediction.probability < 0) throw OracleFailure();
    return prediction;
  }

  Handle handle_;
};

/// refrain_oracle_options.
struct OracleOptions {
  std::optional<std::string> record = std::nullopt;
  std::optional<std::string> reference = std::nullopt;
  std::optional<std::string> program = std::nullopt;
  std::uint32_t process = 0;
  bool times = false;
};

/// One process's part of a run. Its streams end with it.
class Oracle {
 public:
  /// A new file, to record a run of this program in.
  static void create(const std::string& path, const std::string& program) {
    if (refrain_oracle_create(path.c_str(), program.c_str()) != 0) throw OracleFailure();
  }

  explicit Oracle(const OracleOptions& options) {
    const auto or_null = [](const std::optional<std::string>& text) {
      return text ? text->c_str() : nullptr;
    };
    const refrain_oracle_options in_c{or_null(options.record), or_null(options.reference),
                                      or_null(options.program), options.process,
                                      options.times ? 1 : 0};
    handle_.reset(refrain_oracle_open(&in_c));
    if (handle_ == nullptr) throw OracleFailure();
  }

  OracleStream join(std::uint32_t thread) {
    refrain_oracle_stream* const stream = refrain_oracle_join(handle_.get(), thread);
    if (stream == nullptr) throw OracleFailure();
    return OracleStream(OracleStream::Handle(
        stream, [](refrain_oracle_stream* left) { refrain_oracle_leave(left); }));
  }

  /// Ends the run and the streams that are left. The destructor does it, too, but says of no failure.
  void close() {
    if (refrain_oracle_close(handle_.get()) != 0) throw OracleFailure();
    static_cast<void>(handle_.release());
  }

 private:
  struct Close {
    void operator()(refrain_oracle* oracle) const { refrain_oracle_close(oracle); }
  };
  std::unique_ptr<refrain_oracle, Close> handle_;
};

}  // namespace refrain
