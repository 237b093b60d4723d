# apps/<name>/*.cpp is the program <name>, with a dash for each underscore (the target has the name of the
# folder); a folder of headers alone is for the others to include. A folder with its own CMakeLists.txt says
# itself what it is.
# Each line of apps/<name>/tests.txt is a test (refrain_command_lines).

find_package(CLI11 REQUIRED)
refrain_folders(apps ${PROJECT_SOURCE_DIR}/apps)
add_custom_target(apps)
foreach(app IN LISTS apps)
  if(EXISTS ${PROJECT_SOURCE_DIR}/apps/${app}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/apps/${app} ${PROJECT_BINARY_DIR}/apps/${app})
    continue()
  endif()
  refrain_sources(sources ${PROJECT_SOURCE_DIR}/apps/${app})
  if(sources)
    refrain_executable(${app} ${sources})
    string(REPLACE "_" "-" program ${app})
    set_target_properties(${app} PROPERTIES OUTPUT_NAME ${program})
    target_link_libraries(${app} PRIVATE CLI11::CLI11)
    add_dependencies(apps ${app})
    refrain_command_lines(app_${app} ${app} ${PROJECT_SOURCE_DIR}/apps/${app}/tests.txt)
  endif()
endforeach()
