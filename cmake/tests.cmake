# drystone_add_test(NAME COMMAND...) adds a test. With DRYSTONE_QUICK_TESTS=asan it is called asan:NAME and is the shorter
# one that sanitizers need: so ctest runs the tests of several presets as one list, the longest first.

# The shorter form of these leaves nothing of them: long simulations, whose parts shorter tests have as well. Programs that
# draw and films look at images, which take a sanitizer long, and interrupted runs at what the system does.
set(DRYSTONE_LONG_TESTS chairs composites composites_thrown deformable_impact deformable_rebound solid_contact draw film
    interrupt reduce)

# Whether a test is built and run at all.
function(drystone_wants_test result name)
  set(${result} ON PARENT_SCOPE)
  string(REGEX REPLACE "^test_" "" short ${name})
  if(DRYSTONE_QUICK_TESTS AND short IN_LIST DRYSTONE_LONG_TESTS)
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# s of processor time, where it is more than three: of release, or of asan or tsan where that takes longer. ctest begins
# with the longest, so that none of them is left over, alone, at the end; test_page waits for the browser most of the time.
set(DRYSTONE_TEST_COSTS
    test_page=60 test_golden=54 test_composites_thrown=39 test_soft_piles=24 test_solid_contact=20
    test_deformable_impact=19 test_stop=17 test_effort=16 test_cli=16 test_record=5 test_record_live=6 test_record_damage=5 test_joints_contact=14
    test_generate=12 test_rest=12 test_soft_scenes=11 test_plates=10 test_faces=9 test_memory_solid=9 test_chains=9
    test_stuffing=9 test_readme=8 test_guides=8 test_solve=8 test_reduce=8 test_film=8 test_composites=7
    test_chairs=7 test_deformable_rebound=7 test_observe=7 test_stand_program=7 test_sweep_program=6 test_layout=6
    test_draw=6 test_deformable_contact=5 test_methods=5 test_python=5 test_figures=4 test_detect_tilt=4 test_cases=4
    test_scaling=4 test_problem_bad=4 test_soft_motion=4 test_scenes=4 test_solid=4 test_field=4 test_modes=4
    test_whip=7 test_deb=4 test_deformable_incline=3 test_random_problems=3 test_solid_cases=3)

function(drystone_add_test name)
  set(full ${name})
  if(DRYSTONE_QUICK_TESTS)
    set(full ${DRYSTONE_QUICK_TESTS}:${name})
  endif()
  add_test(NAME ${full} COMMAND ${ARGN})
  set_tests_properties(${full} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  if(DRYSTONE_QUICK_TESTS)
    set_property(TEST ${full} PROPERTY ENVIRONMENT DRYSTONE_TEST_QUICK=1)
  endif()
  if(DRYSTONE_SANITIZE STREQUAL "thread")
    set_property(TEST ${full} APPEND PROPERTY ENVIRONMENT DRYSTONE_TEST_THREADS=1)
  endif()
  string(REGEX MATCH "(^|;)${name}=([0-9]+)" found "${DRYSTONE_TEST_COSTS}")
  if(found)
    set_property(TEST ${full} PROPERTY COST ${CMAKE_MATCH_2})
  endif()
endfunction()
