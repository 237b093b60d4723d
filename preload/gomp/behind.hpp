#pragma once
// BEHIND(function)(arguments...) calls the function of that name which the program would call without this library.

#include "support/next.hpp"

#define BEHIND(function)                                                          \
  ([]() -> auto& {                                                                \
    static constinit refrain::preload::Next<decltype(&function)> next{#function}; \
    return next;                                                                  \
  }())
