# Each examples/*.cpp is one program, example_<name>, that the tests run: it has to end with success.

refrain_sources(sources ${PROJECT_SOURCE_DIR}/examples)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  refrain_executable(example_${name} ${source})
  add_test(NAME ${REFRAIN_TEST_PREFIX}example_${name} COMMAND example_${name})
  set_tests_properties(${REFRAIN_TEST_PREFIX}example_${name} PROPERTIES LABELS examples TIMEOUT 120)
endforeach()
