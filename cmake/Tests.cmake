# tests/<kind>/*.cpp is the GoogleTest program tests_<kind>, whatever the kind is called, except for:
#   support/       linked into all of them
#   fuzz/          the program `fuzz`, which has a main of its own and is no test
#   compile_fail/  files that must not compile
#   consumer/      an outside project that uses Refrain
# A folder with its own CMakeLists.txt says itself what it is.
# Asking a program for its list of tests costs more than it tells, so each is a few ctest entries that
# share its cases among them (GoogleTest's shards).

set(REFRAIN_TEST_SHARDS 4 CACHE STRING "Among how many ctest entries a test program's cases are shared")
# The debug build goes without: it finds the file that forgot to include what it uses.
option(REFRAIN_PRECOMPILE_TESTS "Parse once what nearly every test includes" OFF)
set(REFRAIN_TEST_FILTER "" CACHE STRING "--gtest_filter of the test programs; empty: all their cases")
set(REFRAIN_TEST_SECONDS "" CACHE STRING "Bound for each randomised test, in seconds; empty: in full")

find_package(GTest REQUIRED)
set(tests_dir ${PROJECT_SOURCE_DIR}/tests)

# What is about nodes of the graph has names that programs have, too.
set_property(SOURCE ${tests_dir}/support/random_graph.cpp ${tests_dir}/support/random_replays.cpp PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
refrain_support_library(refrain_test_support ${tests_dir} GTest::gtest)

set(test_environment)
if(REFRAIN_TEST_FILTER)
  list(APPEND test_environment GTEST_FILTER=${REFRAIN_TEST_FILTER})
endif()
if(REFRAIN_TEST_SECONDS)
  list(APPEND test_environment REFRAIN_TEST_SECONDS=${REFRAIN_TEST_SECONDS})
endif()

# The shadow of a thread's stack is cleared by writing to it. Else the sanitizer maps its pages anew each time a thread or a
# fiber starts, which takes more than a third of the time of tests that start many.
if(REFRAIN_SANITIZE MATCHES "address")
  list(APPEND test_environment ASAN_OPTIONS=clear_shadow_mmap_threshold=100000000)
endif()

add_custom_target(tests)

# The first test program parses the headers, the others read what it has made of them.
function(refrain_precompile_test target)
  get_property(first GLOBAL PROPERTY refrain_precompiled_test)
  if(NOT REFRAIN_PRECOMPILE_TESTS)
    return()
  elseif(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY refrain_precompiled_test ${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <map> <random> <sstream> <gtest/gtest.h>
      ${PROJECT_SOURCE_DIR}/include/refrain/refrain.hpp)
  endif()
endfunction()

function(refrain_test_program kind)
  refrain_sources(sources ${tests_dir}/${kind})
  if(NOT sources)
    return()
  endif()
  set(target tests_${kind})
  refrain_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE refrain_test_support GTest::gtest_main)
  # A test runs its own code once or twice: what takes time is in the library and in support.
  target_compile_options(${target} PRIVATE -Og)
  refrain_join_tests(${target})
  refrain_precompile_test(${target})
  add_dependencies(tests ${target})
  math(EXPR last "${REFRAIN_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(name ${REFRAIN_TEST_PREFIX}${kind}.${shard})
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS ${kind} TIMEOUT 600
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${REFRAIN_TEST_SHARDS};GTEST_SHARD_INDEX=${shard};${test_environment}")
  endforeach()
endfunction()

# They read the descriptions of machines, and a schema.
set_property(SOURCE ${tests_dir}/unit/machine_test.cpp ${tests_dir}/errors/machine_test.cpp
             ${tests_dir}/errors/mapping_schema_test.cpp APPEND PROPERTY COMPILE_DEFINITIONS
             REFRAIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

refrain_folders(kinds ${tests_dir})
list(REMOVE_ITEM kinds support fuzz compile_fail consumer)
foreach(kind IN LISTS kinds)
  if(EXISTS ${tests_dir}/${kind}/CMakeLists.txt)
    add_subdirectory(${tests_dir}/${kind} ${PROJECT_BINARY_DIR}/tests/${kind})
  else()
    refrain_test_program(${kind})
  endif()
endforeach()

target_link_libraries(tests_simulate PRIVATE refrain_simulate)

refrain_sources(sources ${tests_dir}/fuzz)
if(sources)
  refrain_executable(fuzz ${sources})
  target_link_libraries(fuzz PRIVATE refrain_test_support)
endif()

# The tests below look at the project rather than at what it computes: once, in the build without
# sanitizers and checks, is enough.
if(NOT REFRAIN_TEST_PREFIX)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(scripts_dir ${PROJECT_SOURCE_DIR}/scripts)

  refrain_sources(sources ${tests_dir}/compile_fail)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_test(NAME compile_fail.${name} COMMAND ${Python3_EXECUTABLE} ${scripts_dir}/check_compile_fail
             ${source} ${CMAKE_CXX_COMPILER} -std=c++20 -I${PROJECT_SOURCE_DIR}/include)
    set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 120)
  endforeach()

  add_test(NAME layers COMMAND ${Python3_EXECUTABLE} ${scripts_dir}/check_layers ${PROJECT_SOURCE_DIR})
  add_test(NAME layers.lines COMMAND ${Python3_EXECUTABLE} ${scripts_dir}/count_lines ${PROJECT_SOURCE_DIR})
  set_tests_properties(layers layers.lines PROPERTIES LABELS layers)

  if(REFRAIN_INSTALL)
    foreach(way installed sources)
      add_test(NAME consumer.${way} COMMAND ${scripts_dir}/check_consumer ${way} ${PROJECT_BINARY_DIR}
               -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DREFRAIN_WERROR=${REFRAIN_WERROR})
      set_tests_properties(consumer.${way} PROPERTIES LABELS package TIMEOUT 600)
    endforeach()
  endif()
endif()
