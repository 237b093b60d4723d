# Each examples/*.cpp is one program, example_<name>. The tests run it with threads, under the seeded scheduler and as
# three ranks: it has to end with success and to print what examples/expected/<name>.txt says.

if(REFRAIN_BUILD_TESTS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# refrain_example_test(<test> <name> <command>...): what the command prints is compared.
function(refrain_example_test test name)
  if(NOT REFRAIN_BUILD_TESTS)
    return()
  endif()
  add_test(NAME ${REFRAIN_TEST_PREFIX}${test}
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_output
                   ${PROJECT_SOURCE_DIR}/examples/expected/${name}.txt ${ARGN})
  set_tests_properties(${REFRAIN_TEST_PREFIX}${test} PROPERTIES LABELS examples TIMEOUT 120
    ENVIRONMENT "${refrain_launched}")
endfunction()

add_custom_target(examples)
refrain_launchers(launchers)
refrain_sources(sources ${PROJECT_SOURCE_DIR}/examples)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  refrain_executable(example_${name} ${source})
  add_dependencies(examples example_${name})
  set(program $<TARGET_FILE:example_${name}>)
  refrain_example_test(example_${name} ${name} ${program})
  refrain_example_test(example_${name}.seeded ${name} ${program} --refrain:schedule=3)
  if(launchers)
    list(GET launchers -1 launcher)
    refrain_example_test(example_${name}.ranks ${name} ${launcher} -n 3 ${program})
  endif()
endforeach()

# The oracle's is a program in C that uses the oracle alone.
add_executable(example_oracle ${PROJECT_SOURCE_DIR}/examples/oracle.c)
set_target_properties(example_oracle PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_link_libraries(example_oracle PRIVATE Refrain::oracle)
add_dependencies(examples example_oracle)
refrain_example_test(example_oracle oracle $<TARGET_FILE:example_oracle>)

if(REFRAIN_BUILD_TESTS AND NOT REFRAIN_TEST_PREFIX)
  add_test(NAME quotes COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_quotes
                               ${PROJECT_SOURCE_DIR})
  set_tests_properties(quotes PROPERTIES LABELS examples)
endif()
