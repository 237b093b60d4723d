# tools/*.cpp is the command-line tool `refrain`.

find_package(CLI11 REQUIRED)
refrain_sources(sources ${PROJECT_SOURCE_DIR}/tools)
if(sources)
  refrain_executable(refrain_tool ${sources})
  set_target_properties(refrain_tool PROPERTIES OUTPUT_NAME refrain)
  target_link_libraries(refrain_tool PRIVATE refrain_internal CLI11::CLI11)
  if(REFRAIN_INSTALL)
    install(TARGETS refrain_tool COMPONENT refrain_tools)
  endif()
endif()
