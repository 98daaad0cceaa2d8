# `drystone view` and `drystone film`: libwebsockets, and the page, which npm builds and the program holds.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBWEBSOCKETS IMPORTED_TARGET libwebsockets>=4.1)
if(NOT LIBWEBSOCKETS_FOUND)
  message(FATAL_ERROR "libwebsockets 4.1 or later was not found. scripts/install-deps.sh installs it (libwebsockets-dev); "
                      "-DDRYSTONE_VIEW=OFF builds the program without 'view' and 'film'.")
endif()
if(NOT CMAKE_C_BYTE_ORDER STREQUAL "LITTLE_ENDIAN")
  message(FATAL_ERROR "The viewer's messages are little-endian; use -DDRYSTONE_VIEW=OFF on this machine.")
endif()

find_program(DRYSTONE_NPM npm)
file(GLOB VIEW_SOURCES CONFIGURE_DEPENDS view/*.c)
file(GLOB_RECURSE WEB_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/npm/* ${CMAKE_SOURCE_DIR}/web/*.json
     ${CMAKE_SOURCE_DIR}/web/*.mjs)
list(FILTER WEB_SOURCES EXCLUDE REGEX "/(node_modules|dist|test)/")
set(PAGE ${CMAKE_CURRENT_BINARY_DIR}/page)
add_custom_command(
  OUTPUT ${PAGE}.stamp ${PAGE}.c
  COMMAND ${CMAKE_COMMAND} -DWEB=${CMAKE_SOURCE_DIR}/web -DBUILD=${CMAKE_BINARY_DIR}/web -DNPM=${DRYSTONE_NPM}
          -DOUTPUT=${PAGE}.c -DSTAMP=${PAGE}.stamp -P ${CMAKE_SOURCE_DIR}/cmake/page.cmake
  DEPENDS ${WEB_SOURCES} ${CMAKE_SOURCE_DIR}/cmake/page.cmake ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "Building the page of drystone view"
  VERBATIM)
target_sources(drystone-program PRIVATE ${VIEW_SOURCES} ${PAGE}.c ${PAGE}.stamp)
target_include_directories(drystone-program PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(drystone-program PRIVATE DRYSTONE_VIEW)
target_link_libraries(drystone-program PRIVATE PkgConfig::LIBWEBSOCKETS)

if(DRYSTONE_TESTS)
  add_executable(test_view_messages view/test/test_view_messages.c view/bytes.c view/frame.c view/geometry.c view/levels.c
                 view/probe.c view/commands.c view/access.c tessellate.c skin.c wardrobe.c)
  add_executable(test_view_hub view/test/test_view_hub.c view/hub.c view/bytes.c view/commands.c)
  foreach(name test_view_messages test_view_hub)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/test ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE drystone_flags drystone-scenes)
    drystone_add_test(${name} ${name})
  endforeach()
endif()
