// Lesson 1: a task and a future.
#include <refrain/refrain.hpp>

#include <cstdio>
#include <string>
using namespace refrain;

const Task greet{"greet", [](const std::string& name) { return "Hello, " + name + "!"; }};
const Task length{"length", [](const std::string& text) { return static_cast<int>(text.size()); }};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    Future<std::string> greeting = ctx.launch(greet, "Refrain");
    Future<int> letters = ctx.launch(length, greeting);  // runs when the greeting is there
    std::printf("%s (%d letters)\n", greeting.get().c_str(), letters.get());
  });
}
