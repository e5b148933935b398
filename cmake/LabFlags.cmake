# Compiler flags, on one INTERFACE target that every C target links.
add_library(lab_flags INTERFACE)
target_compile_definitions(lab_flags INTERFACE _GNU_SOURCE)
target_compile_options(lab_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow
        -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings
        -Wno-missing-field-initializers -ffp-contract=off>
    $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)

# A newer compiler may warn of what today's do not know: for someone who only
# wants to run the program that is no reason to stop.
set(lab_werror ${LAB_WERROR})
if(LAB_WERROR STREQUAL "AUTO")
    set(lab_werror OFF)
    if((CMAKE_C_COMPILER_ID STREQUAL "GNU"
            AND CMAKE_C_COMPILER_VERSION VERSION_LESS 14)
        OR (CMAKE_C_COMPILER_ID STREQUAL "Clang"
            AND CMAKE_C_COMPILER_VERSION VERSION_LESS 15))
        set(lab_werror ON)
    endif()
endif()
if(lab_werror)
    target_compile_options(lab_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()

if(LAB_SANITIZE STREQUAL "thread")
    # Without _FORTIFY_SOURCE, whose functions the sanitizer does not see.
    target_compile_options(lab_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-O1 -fsanitize=thread -fno-omit-frame-pointer>
        # The ring's fences are about sleeping, not about its data.
        $<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
    target_link_options(lab_flags INTERFACE -fsanitize=thread)
elseif(LAB_SANITIZE)
    # -O1: the sanitizers' own advice. Unoptimised, a product takes ten times as
    # long, and tests that wait for one depend on who else works on the machine.
    set(lab_checks undefined,float-cast-overflow)
    if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
        # Not unsigned-integer-overflow: hashes and random numbers wrap.
        string(APPEND lab_checks ",implicit-conversion,local-bounds")
    endif()
    target_compile_options(lab_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-O1 -fsanitize=address,${lab_checks}
            -fno-sanitize-recover=${lab_checks} -fno-omit-frame-pointer>)
    target_link_options(lab_flags INTERFACE -fsanitize=address,${lab_checks})
    if(LAB_SANITIZE STREQUAL "fuzzer")
        if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
            message(FATAL_ERROR "LAB_SANITIZE=fuzzer needs clang: CC=clang")
        endif()
        # Kernels compute and choose nothing: coverage would only slow them.
        set(lab_covered $<NOT:$<BOOL:$<TARGET_PROPERTY:LAB_ARITHMETIC>>>)
        target_compile_options(lab_flags INTERFACE
            $<$<AND:$<COMPILE_LANGUAGE:C>,${lab_covered}>:-fsanitize=fuzzer-no-link>)
        target_link_options(lab_flags INTERFACE -fsanitize=fuzzer-no-link)
    endif()
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    # Lessons and databases come from other people.
    target_compile_options(lab_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-fstack-protector-strong -U_FORTIFY_SOURCE
            -D_FORTIFY_SOURCE=2>)
endif()

# lab_module(NAME [DEPENDS module...] [EXCLUDE folder...]): the library lab_NAME
# from the *.c here and in the folders below that are not excluded. Public
# headers are in include/NAME/; private ones are named from here.
function(lab_module name)
    cmake_parse_arguments(ARG "" "" "DEPENDS;EXCLUDE" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    foreach(dir IN LISTS ARG_EXCLUDE)
        list(FILTER sources EXCLUDE REGEX "/src/${name}/${dir}/")
    endforeach()
    add_library(lab_${name} STATIC ${sources})
    target_include_directories(lab_${name}
        PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include
        PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(lab_${name} PRIVATE lab_flags)
    foreach(dep IN LISTS ARG_DEPENDS)
        target_link_libraries(lab_${name} PUBLIC lab_${dep})
    endforeach()
endfunction()
