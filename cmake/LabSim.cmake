# The simulator executes the CUDA kernels' PTX, which nvcc makes, or clang where
# there is no nvcc; a GPU or a driver is not needed. LabCuda.cmake has found nvcc or
# not.
set(LAB_HAVE_SIM OFF)
set(LAB_SIM_CLANG_BUILD OFF)
if(NOT LAB_SIM STREQUAL "OFF" AND NOT LAB_HAVE_NVCC)
    find_program(LAB_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15
        clang-14 DOC "clang, which makes the simulator's kernels without nvcc")
    if(LAB_CLANG)
        # Of the NVPTX back end, and of a C++ library for the launchers.
        set(lab_try ${CMAKE_BINARY_DIR}/CMakeFiles/lab_try_clang.cu)
        file(WRITE ${lab_try} "#include <type_traits>\n__attribute__((global)) void k() {}\n")
        execute_process(COMMAND ${LAB_CLANG} -x cuda --cuda-device-only
            --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -std=c++17 -S -o /dev/null
            ${lab_try} RESULT_VARIABLE lab_clang_failed OUTPUT_QUIET ERROR_QUIET)
    endif()
endif()
if(LAB_SIM STREQUAL "OFF")
    set(LAB_SIM_REASON "LAB_SIM is OFF")
elseif(NOT LAB_HAVE_NVCC AND LAB_CLANG AND NOT lab_clang_failed)
    set(LAB_HAVE_SIM ON)
    set(LAB_SIM_CLANG_BUILD ON)
elseif(NOT LAB_HAVE_NVCC AND LAB_CLANG)
    set(LAB_SIM_REASON "${LAB_NVCC_REASON}, and ${LAB_CLANG} makes no CUDA code")
elseif(NOT LAB_HAVE_NVCC)
    set(LAB_SIM_REASON "${LAB_NVCC_REASON}, and no clang either")
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
    set(LAB_SIM_REASON "nvcc ${CMAKE_CUDA_COMPILER_VERSION} knows no compute_90a")
else()
    set(LAB_HAVE_SIM ON)
endif()
if(LAB_SIM_CLANG_BUILD)
    message(STATUS "Simulator: ${LAB_CLANG} makes its kernels")
elseif(LAB_HAVE_SIM)
    message(STATUS "Simulator: nvcc ${CMAKE_CUDA_COMPILER_VERSION} makes its kernels")
elseif(LAB_SIM STREQUAL "ON")
    message(FATAL_ERROR "LAB_SIM=ON, but ${LAB_SIM_REASON}: put nvcc of CUDA 12 "
        "or later on PATH, or install clang")
else()
    message(STATUS "Simulator: its kernels are left out (${LAB_SIM_REASON}); "
        "with clang or nvcc they are built")
    # A module of an earlier configuration must not be found at run time.
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lapenna-lab-sim.so)
endif()
