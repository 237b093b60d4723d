# bench/<name>/*.cpp is the benchmark bench_<name>; bench/support/*.cpp is linked into all of them.
# bench/peers/*.cpp are the rival programs, one file each, peer_<name>.
# A folder with its own CMakeLists.txt says itself what it is (rivals need their own libraries).

find_package(CLI11 REQUIRED)
set(bench_dir ${PROJECT_SOURCE_DIR}/bench)

# A benchmark may look below the public API, and has flags.
refrain_support_library(refrain_bench_support ${bench_dir} CLI11::CLI11)

# All of it: what bench/run.py starts, and what that starts.
add_custom_target(benches)

refrain_folders(benches ${bench_dir})
list(REMOVE_ITEM benches support)
foreach(bench IN LISTS benches)
  if(EXISTS ${bench_dir}/${bench}/CMakeLists.txt)
    add_subdirectory(${bench_dir}/${bench} ${PROJECT_BINARY_DIR}/bench/${bench})
    continue()
  endif()
  refrain_sources(sources ${bench_dir}/${bench})
  if(bench STREQUAL "peers")
    foreach(source IN LISTS sources)
      cmake_path(GET source STEM name)
      refrain_executable(peer_${name} ${source})
      target_link_libraries(peer_${name} PRIVATE refrain_bench_support)
    endforeach()
  elseif(sources)
    refrain_executable(bench_${bench} ${sources})
    target_link_libraries(bench_${bench} PRIVATE refrain_bench_support)
  endif()
endforeach()

# refrain_add_targets(<folder>): the programs that the folder and those in it make, to the target `benches`.
function(refrain_add_targets folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "^(bench|peer)_")
  if(targets)
    add_dependencies(benches ${targets})
  endif()
  get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS inner)
    if(each MATCHES "/bench/")
      refrain_add_targets(${each})
    endif()
  endforeach()
endfunction()
refrain_add_targets(${PROJECT_SOURCE_DIR})
