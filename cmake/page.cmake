# Builds the page of `drystone view` and writes it as a C source:
#   cmake -DWEB=source/web -DBUILD=build/web -DNPM=npm -DOUTPUT=page.c -DSTAMP=page.stamp -P page.cmake
#
# The sources are copied, so that nothing is written beside them. Without npm, or where npm cannot fetch what it needs, the
# program gets a page that says so, and no stamp is left: the next build tries again.
set(names index.html app.js app.css)
set(embed ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

function(embed folder names built)
  set(FOLDER ${folder})
  set(NAMES ${names})
  set(BUILT ${built})
  include(${embed})
endfunction()

# In `why` what went wrong, empty where all went well.
function(build_page why)
  set(${why} "" PARENT_SCOPE)
  if(NOT NPM)
    set(${why} "npm was not found" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS ${WEB}/package-lock.json)
    set(${why} "there is no ${WEB}/package-lock.json" PARENT_SCOPE)
    return()
  endif()
  file(GLOB inputs ${WEB}/*.json ${WEB}/*.mjs ${WEB}/src ${WEB}/npm)
  file(REMOVE_RECURSE ${BUILD}/src ${BUILD}/npm ${BUILD}/dist)
  file(COPY ${inputs} DESTINATION ${BUILD})
  file(SHA256 ${WEB}/package-lock.json lock)
  set(installed "")
  if(EXISTS ${BUILD}/node_modules/.lock)
    file(READ ${BUILD}/node_modules/.lock installed)
  endif()
  if(NOT installed STREQUAL lock)
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund --no-update-notifier --prefer-offline --fetch-retries=1
                            --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 WORKING_DIRECTORY ${BUILD}
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
      string(REGEX REPLACE ".*npm (ERR!|error) (code [A-Z_]+).*" "\\2" code "${output}")
      string(SUBSTRING "${code}" 0 300 code)
      set(${why} "npm ci failed: ${code}" PARENT_SCOPE)
      return()
    endif()
    file(WRITE ${BUILD}/node_modules/.lock ${lock})
  endif()
  execute_process(COMMAND ${NPM} run --silent build WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    set(${why} "npm run build failed: ${output}" PARENT_SCOPE)
  endif()
endfunction()

build_page(why)
if(why STREQUAL "")
  embed(${BUILD}/dist "${names}" true)
  file(TOUCH ${STAMP})
else()
  message(WARNING "The page of 'drystone view' is not built: ${why}. The program works without it and says so; "
                  "with npm and a network, build again.")
  file(WRITE ${BUILD}/missing/index.html
       "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Drystone</title>"
       "<body style=\"font: 16px sans-serif; margin: 3em; max-width: 40em\"><h1>The page is not here</h1>"
       "<p>This program was built without its page. Install nodejs and npm, connect to a network and build again:"
       "<pre>scripts/install-deps.sh build\nmake</pre>")
  embed(${BUILD}/missing "index.html" false)
  file(REMOVE ${STAMP})
endif()
