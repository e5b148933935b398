# commit.cmake -- writes lab_commit(), with the commit of TREE, to OUT where it has
# changed; empty without git or outside of a repository.
cmake_minimum_required(VERSION 3.22)
set(commit "")
if(GIT)
    execute_process(COMMAND ${GIT} rev-parse --short HEAD WORKING_DIRECTORY ${TREE}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"base/version.h\"

const char *lab_commit(void)
{
    return \"${commit}\";
}
")
