# apps/<name>/*.cpp is the program <name>, with a dash for each underscore (the target has the name of the
# folder). A folder with its own CMakeLists.txt says itself what it is; one for the programs on arrays is the line
# refrain_application(<name> Refrain::arrays apps_picture).
# Each line of apps/<name>/tests.txt is a test (refrain_command_lines).

find_package(CLI11 REQUIRED)
add_custom_target(apps)

# refrain_application(<name> <library>...): the program of the folder apps/<name>, which also uses the libraries.
# Without the library of arrays, those that use it are left out.
function(refrain_application app)
  if("Refrain::arrays" IN_LIST ARGN AND NOT TARGET Refrain::arrays)
    return()
  endif()
  refrain_sources(sources ${PROJECT_SOURCE_DIR}/apps/${app})
  if(NOT sources)
    return()
  endif()
  # It reads flags and prints: what takes time of it is compiling it. Last, so that of a function that several files
  # have the optimised copy is linked.
  set(main ${PROJECT_SOURCE_DIR}/apps/${app}/main.cpp)
  list(REMOVE_ITEM sources ${main})
  list(APPEND sources ${main})
  set_property(SOURCE ${main} APPEND PROPERTY COMPILE_OPTIONS -O0)
  refrain_executable(${app} ${sources})
  refrain_align_loops(${app})
  string(REPLACE "_" "-" program ${app})
  set_target_properties(${app} PROPERTIES OUTPUT_NAME ${program})
  target_link_libraries(${app} PRIVATE CLI11::CLI11 ${ARGN})
  add_dependencies(apps ${app})
  refrain_command_lines(app_${app} ${app} ${PROJECT_SOURCE_DIR}/apps/${app}/tests.txt)
  refrain_twin_test(${app})
  refrain_warm_start_test(${app})
  refrain_ranks_test(${app})
endfunction()

# The program says the same as one process and as several ranks, started by each kind of MPI that is there.
function(refrain_ranks_test app)
  refrain_launchers(launchers)
  if(NOT REFRAIN_BUILD_TESTS OR NOT launchers)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(name ${REFRAIN_TEST_PREFIX}app_${app}.ranks)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/apps/common/check_ranks.py
    $<TARGET_FILE:${app}> ${PROJECT_SOURCE_DIR}/apps/${app}/tests.txt ${launchers})
  set_tests_properties(${name} PROPERTIES LABELS "apps;net" TIMEOUT 600 PROCESSORS 2)
endfunction()

# refrain_steady_test(<app> <argument>...): how messages go on from iteration to iteration; `@` is their number.
function(refrain_steady_test app)
  refrain_launchers(launchers)
  if(NOT TARGET ${app} OR NOT REFRAIN_BUILD_TESTS OR NOT launchers)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  list(GET launchers -1 launcher)
  set(name ${REFRAIN_TEST_PREFIX}app_${app}.steady)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/apps/common/check_steady.py
    ${launcher} $<TARGET_FILE:${app}> ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "apps;net" TIMEOUT 300 PROCESSORS 2)
endfunction()

# A program that starts with the file of an earlier run replays nearly all.
function(refrain_warm_start_test app)
  if(NOT REFRAIN_BUILD_TESTS)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(name ${REFRAIN_TEST_PREFIX}app_${app}.warm_start)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/apps/common/check_warm_start.py
    $<TARGET_FILE:${app}>)
  set_tests_properties(${name} PROPERTIES LABELS apps TIMEOUT 300)
endfunction()

# apps/<name>/<name>.py, if there is one, is the program's twin in NumPy: for a few steps both print the same results.
function(refrain_twin_test app)
  set(twin ${PROJECT_SOURCE_DIR}/apps/${app}/${app}.py)
  if(NOT REFRAIN_BUILD_TESTS OR NOT EXISTS ${twin})
    return()
  endif()
  refrain_find_numpy()
  set(name ${REFRAIN_TEST_PREFIX}app_${app}.twin)
  add_test(NAME ${name} COMMAND ${REFRAIN_NUMPY_PYTHON} ${PROJECT_SOURCE_DIR}/apps/common/compare_twin.py
    $<TARGET_FILE:${app}> ${twin} --n 24 --iterations 20 --warm-up 4)
  set_tests_properties(${name} PROPERTIES LABELS apps TIMEOUT 300)
endfunction()

refrain_folders(apps ${PROJECT_SOURCE_DIR}/apps)
foreach(app IN LISTS apps)
  if(EXISTS ${PROJECT_SOURCE_DIR}/apps/${app}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/apps/${app} ${PROJECT_BINARY_DIR}/apps/${app})
  else()
    refrain_application(${app})
  endif()
endforeach()

# What scripts/demo runs.
add_custom_target(demo)
foreach(program stencil circuit jacobi s3d_like cfd pennant)
  if(TARGET ${program})
    add_dependencies(demo ${program})
  endif()
endforeach()

refrain_steady_test(stencil --n 256 --tiles 4,2 --warm-up 0 --no-sequential --iterations @)
refrain_steady_test(circuit --pieces 6 --nodes 200 --wires 700 --warm-up 0 --no-sequential --steps @)
refrain_steady_test(jacobi --n 200 --blocks 7 --warm-up 0 --no-sequential --iterations @)
refrain_steady_test(cfd --n 301 --pressure-iterations 5 --check-every 1 --warm-up 0 --no-check --iterations @)
