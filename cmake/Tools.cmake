# tools/*.cpp is the command-line tool `refrain`: tools/refrain.cpp is its main function, the others are a library,
# so that the tests can have them.
# Each line of tools/tests.txt is a test (refrain_command_lines).

find_package(CLI11 REQUIRED)
refrain_sources(sources ${PROJECT_SOURCE_DIR}/tools)
set(main ${PROJECT_SOURCE_DIR}/tools/refrain.cpp)
list(REMOVE_ITEM sources ${main})

if(NOT REFRAIN_BUILD_MAP_SEARCH)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/tools/map.cpp ${PROJECT_SOURCE_DIR}/tools/map_report.cpp)
endif()
add_library(refrain_commands STATIC ${sources})
if(REFRAIN_BUILD_MAP_SEARCH)
  target_link_libraries(refrain_commands PUBLIC refrain_map)
  target_compile_definitions(refrain_commands PRIVATE REFRAIN_BUILD_MAP_SEARCH)
endif()
target_include_directories(refrain_commands PUBLIC ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(refrain_commands PUBLIC refrain_simulate refrain_internal refrain_oracle_core Refrain::oracle
  refrain_picture CLI11::CLI11)
include(GNUInstallDirs)
target_compile_definitions(refrain_commands PRIVATE REFRAIN_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}")
refrain_warnings(refrain_commands)
refrain_join_sources(refrain_commands)
# They read flags and short files; what takes time of them is compiling them.
target_compile_options(refrain_commands PRIVATE -O1)

refrain_executable(refrain_tool ${main})
set_target_properties(refrain_tool PROPERTIES OUTPUT_NAME refrain
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(refrain_tool PRIVATE refrain_commands)

# The tool with the preload libraries that `refrain oracle` looks for where it runs; the other subcommands need none.
add_custom_target(tools DEPENDS refrain_tool)
foreach(library refrain_oracle refrain_oracle_gomp refrain_oracle_mpi)
  if(TARGET ${library})
    add_dependencies(tools ${library})
  endif()
endforeach()
if(REFRAIN_INSTALL)
  install(TARGETS refrain_tool COMPONENT refrain_tools)
endif()

refrain_command_lines(tool refrain_tool ${PROJECT_SOURCE_DIR}/tools/tests.txt)
if(refrain_tests AND REFRAIN_BUILD_APPS)
  # What they draw.
  set(log ${REFRAIN_TEST_PREFIX}tool.log)
  add_test(NAME ${log} COMMAND jacobi --n 64 --blocks 4 --iterations 2000 --no-sequential
                               --refrain:autotrace-log tool_test.jsonl)
  set_tests_properties(${log} PROPERTIES LABELS apps TIMEOUT 300 FIXTURES_SETUP ${log})
  set_tests_properties(${refrain_tests} PROPERTIES FIXTURES_REQUIRED ${log})
endif()
