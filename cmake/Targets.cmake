# How this project's own targets are made. A folder's sources are found by a glob that is looked at again
# in every build, so adding a file needs no edit here.

# refrain_sources(<variable> <folder>): the .cpp files directly in <folder>.
function(refrain_sources variable folder)
  file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# refrain_folders(<variable> <folder>): the names of the folders directly in <folder>.
function(refrain_folders variable folder)
  set(names)
  file(GLOB entries LIST_DIRECTORIES true CONFIGURE_DEPENDS ${folder}/*)
  foreach(entry IN LISTS entries)
    if(IS_DIRECTORY ${entry})
      cmake_path(GET entry FILENAME name)
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# The warnings that all of this project's code keeps free of. They bind no user of the library.
function(refrain_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wcast-qual
    # g++ 12 reports overlaps in std::string's operator+ that are not there (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # Loops that are to become vectors combine truth values by | and &; where clang does not optimise, they become none.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-conditional-parentheses>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
  if(REFRAIN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# With REFRAIN_JOIN_SOURCES, the files that a library has in one folder are compiled as one: from nothing that takes a
# quarter to a half of the processor's time. A folder is a room, so names that are private to a file meet only names of
# their own room.
function(refrain_join_sources target)
  if(NOT REFRAIN_JOIN_SOURCES)
    return()
  endif()
  # What is private to one file looks shared; the builds that do not join have these warnings.
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# The same for a test program: a test file's names are in a namespace that is called as the file, so a few files are compiled
# as one. What the public API instantiates for them is then made once: they take two fifths of the time.
function(refrain_join_tests target)
  if(REFRAIN_JOIN_SOURCES)
    target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

# refrain_executable(<target> <source>...): an executable that uses the public API only.
function(refrain_executable target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE Refrain::refrain)
  refrain_warnings(${target})
endfunction()

# refrain_align_loops(<target>): no small loop crosses a cache line by chance, which may double the time that it takes
# (1.9 times for one of the stencil's). For programs that are compared.
function(refrain_align_loops target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-falign-loops=32>)
endfunction()

# refrain_support_library(<target> <folder> <library>...): <folder>/support/*.cpp, which the programs of
# <folder> share. They may look below the public API.
function(refrain_support_library target folder)
  refrain_sources(sources ${folder}/support)
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES REFRAIN_SUPPORT ON)
  target_include_directories(${target} PUBLIC ${folder})
  target_link_libraries(${target} PUBLIC refrain_internal ${ARGN})
  refrain_warnings(${target})
  refrain_join_sources(${target})
endfunction()

# refrain_command_lines(<test> <target> <file>): each line of the file, if there is one, is a test <test>.<number>:
# a command line of the target that has to end with success, or, after "! ", one that has to be refused.
# They run in the build's folder; refrain_tests is set to their names.
function(refrain_command_lines test target list)
  set(refrain_tests "" PARENT_SCOPE)
  if(NOT REFRAIN_BUILD_TESTS OR NOT EXISTS ${list})
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[^#]")
  set(number 0)
  set(names)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^! ?" "" command "${line}")
    separate_arguments(arguments UNIX_COMMAND "${command}")
    math(EXPR number "${number} + 1")
    set(name ${REFRAIN_TEST_PREFIX}${test}.${number})
    add_test(NAME ${name} COMMAND ${target} ${arguments})
    set_tests_properties(${name} PROPERTIES LABELS apps TIMEOUT 300)
    if(NOT command STREQUAL line)
      set_tests_properties(${name} PROPERTIES WILL_FAIL TRUE)
    endif()
    list(APPEND names ${name})
  endforeach()
  set(refrain_tests "${names}" PARENT_SCOPE)
endfunction()

# refrain_launchers(<variable>): the command of each kind of MPI whose ranks tests may start. None under a sanitizer: MPI's
# libraries are no friends of theirs.
function(refrain_launchers variable)
  set(launchers)
  foreach(kind openmpi mpich)
    find_program(REFRAIN_MPIEXEC_${kind} mpiexec.${kind})
    if(TARGET refrain_net_${kind} AND REFRAIN_MPIEXEC_${kind} AND NOT REFRAIN_SANITIZE)
      list(APPEND launchers ${REFRAIN_MPIEXEC_${kind}})
    endif()
  endforeach()
  set(${variable} "${launchers}" PARENT_SCOPE)
endfunction()

# Of tests that start ranks: Open MPI as root, in a container, and on machines with few cores.
set(refrain_launched OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1)

# A Python with NumPy. Debian's interpreter first: another one may come first in PATH and not see Debian's packages.
function(refrain_find_numpy)
  find_program(REFRAIN_NUMPY_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH DOC "A Python with NumPy 1.24, for tests")
  find_program(REFRAIN_NUMPY_PYTHON python3 REQUIRED)
endfunction()
