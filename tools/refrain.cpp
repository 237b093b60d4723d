#include "command.hpp"

int main(int argc, char** argv) { return refrain::tools::run_tool(argc, argv); }
