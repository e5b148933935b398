# commit.cmake -- writes the header with the commit of TREE to OUT, where it has changed;
# empty without git or outside of a repository.
cmake_minimum_required(VERSION 3.22)
set(LAB_COMMIT "")
if(GIT)
    execute_process(COMMAND ${GIT} rev-parse --short HEAD WORKING_DIRECTORY ${TREE}
        OUTPUT_VARIABLE LAB_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define LAB_COMMIT \"${LAB_COMMIT}\"\n")
