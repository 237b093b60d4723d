# bench/<name>/*.cpp is the benchmark bench_<name>; bench/support/*.cpp is linked into all of them.
# bench/peers/*.cpp are the rival programs, one file each, peer_<name>.
# A folder with its own CMakeLists.txt says itself what it is (rivals need their own libraries).

find_package(CLI11 REQUIRED)
set(bench_dir ${PROJECT_SOURCE_DIR}/bench)

# A benchmark may look below the public API, and has flags.
add_library(refrain_bench_support INTERFACE)
target_include_directories(refrain_bench_support INTERFACE ${bench_dir})
target_link_libraries(refrain_bench_support INTERFACE refrain_internal CLI11::CLI11)
refrain_sources(sources ${bench_dir}/support)
if(sources)
  add_library(refrain_bench_measure STATIC ${sources})
  target_include_directories(refrain_bench_measure PUBLIC ${bench_dir})
  target_link_libraries(refrain_bench_measure PUBLIC refrain_internal CLI11::CLI11)
  refrain_warnings(refrain_bench_measure)
  target_link_libraries(refrain_bench_support INTERFACE refrain_bench_measure)
endif()

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
