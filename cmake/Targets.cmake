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
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(REFRAIN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# refrain_executable(<target> <source>...): an executable that uses the public API only.
function(refrain_executable target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE Refrain::refrain)
  refrain_warnings(${target})
endfunction()

# refrain_support_library(<target> <folder> <library>...): <folder>/support/*.cpp, which the programs of
# <folder> share. They may look below the public API.
function(refrain_support_library target folder)
  refrain_sources(sources ${folder}/support)
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${folder})
  target_link_libraries(${target} PUBLIC refrain_internal ${ARGN})
  refrain_warnings(${target})
endfunction()
