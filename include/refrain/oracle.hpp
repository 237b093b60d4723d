#pragma once
// The oracle in C++: refrain/oracle.h with handles that end by themselves, and exceptions. Needs nothing of the rest of
// Refrain but the library Refrain::oracle. What a function does is said there.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

  void submit_later(std::uint32_t event, std::uint64_t nanoseconds) {
    if (refrain_oracle_submit_later(handle_.get(), event, nanoseconds) != 0) throw OracleFailure();
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

/// What is in a file, as it was when it was read. Names and bytes hold as long as this.
class OracleRun {
 public:
  explicit OracleRun(const std::string& path) : handle_(refrain_oracle_read(path.c_str())) {
    if (handle_ == nullptr) throw OracleFailure();
  }

  [[nodiscard]] std::string_view program() const {
    return {handle_->program, handle_->program_size};
  }
  /// So many bytes at the end of the file are of a record that was not finished.
  [[nodiscard]] std::uint64_t unfinished() const { return handle_->unfinished; }

  /// The streams, ascending by process and thread.
  [[nodiscard]] std::vector<refrain_oracle_listed_thread> threads() const {
    std::vector<refrain_oracle_listed_thread> all;
    while (const auto* const next = refrain_oracle_list_thread(handle_.get(), all.size()))
      all.push_back(*next);
    return all;
  }

  // Of the stream with that index among threads(); nothing, if there is none.

  [[nodiscard]] std::vector<refrain_oracle_listed_event> events(std::size_t thread) const {
    return list(refrain_oracle_list_event, thread);
  }
  [[nodiscard]] std::vector<refrain_oracle_listed_rule> rules(std::size_t thread) const {
    return list(refrain_oracle_list_rule, thread);
  }
  [[nodiscard]] std::vector<refrain_oracle_listed_note> notes(std::size_t thread) const {
    return list(refrain_oracle_list_note, thread);
  }

 private:
  template <class Entry>
  [[nodiscard]] std::vector<Entry> list(const Entry* (*entry)(const refrain_oracle_run*,
                                                              std::size_t, std::uint32_t),
                                        std::size_t thread) const {
    std::vector<Entry> all;
    while (const Entry* const next =
               entry(handle_.get(), thread, static_cast<std::uint32_t>(all.size())))
      all.push_back(*next);
    return all;
  }

  struct Free {
    void operator()(const refrain_oracle_run* run) const { refrain_oracle_free(run); }
  };
  std::unique_ptr<const refrain_oracle_run, Free> handle_;
};

}  // namespace refrain
