#pragma once
// An optional value that is kept elsewhere: one word where it is rare, copied with what it is part of.

#include <memory>

namespace refrain {

template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }

  T& emplace(T value) {
    value_ = std::make_unique<T>(std::move(value));
    return *value_;
  }
  void reset() { value_.reset(); }
  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_.get(); }
  friend bool operator==(const Boxed& a, const Boxed& b) { return a && b ? *a == *b : !a == !b; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace refrain
