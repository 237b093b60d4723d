// expect: region fields hold trivially copyable types
#include <refrain/refrain.hpp>

using namespace refrain;

#include <string>

constexpr Field<std::string> name{"name"};
