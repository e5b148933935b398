# Finds a CUDA toolkit that works here, or leaves CUDA out; prints which, and why.
#
# Sets LAB_HAVE_CUDA, LAB_HAVE_NVCC (LAB_SIM wants it where LAB_CUDA is OFF), and
# CMAKE_CUDA_ARCHITECTURES to those that design.md names and this nvcc knows: real
# code for each, and PTX for what comes after.
set(LAB_HAVE_CUDA OFF)
set(LAB_HAVE_NVCC OFF)

# lab_cuda_architectures(OUT NVCC): 90a needs CUDA 12, 89 and 90 need 11.8.
function(lab_cuda_architectures out nvcc)
    execute_process(COMMAND ${nvcc} --list-gpu-code
        OUTPUT_VARIABLE known ERROR_QUIET)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE version)
    set(archs "")
    set(newest 75)
    foreach(arch 75 80 86 89 90)
        if(known MATCHES "sm_${arch}")
            set(newest ${arch})
            if(arch EQUAL 90 AND version MATCHES "release (1[2-9]|[2-9][0-9])")
                list(APPEND archs 90a-real)
            else()
                list(APPEND archs ${arch}-real)
            endif()
        endif()
    endforeach()
    list(APPEND archs ${newest}-virtual)
    set(${out} ${archs} PARENT_SCOPE)
endfunction()

if(LAB_CUDA STREQUAL "OFF" AND LAB_SIM STREQUAL "OFF")
    set(LAB_CUDA_REASON "LAB_CUDA is OFF")
else()
    # -DLAB_NVCC=OFF: as on a machine without it.
    if("${LAB_NVCC}" STREQUAL "OFF")
        set(LAB_NVCC OFF)
    elseif(DEFINED ENV{CUDACXX})
        set(LAB_NVCC $ENV{CUDACXX})
    else()
        find_program(LAB_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
            PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin)
    endif()
    set(LAB_CUDA_REASON "no nvcc was found")
    if(LAB_NVCC)
        set(ENV{CUDACXX} ${LAB_NVCC})
        # An earlier run without nvcc has left CMAKE_CUDA_COMPILER-NOTFOUND.
        if(NOT CMAKE_CUDA_COMPILER)
            unset(CMAKE_CUDA_COMPILER CACHE)
            unset(CMAKE_CUDA_COMPILER)
        endif()
        include(CheckLanguage)
        check_language(CUDA)
        set(LAB_CUDA_REASON "${LAB_NVCC} does not work with this C++ compiler")
        if(CMAKE_CUDA_COMPILER)
            # CMake's own variable of the environment; kept for later runs.
            if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDAARCHS})
                set(CMAKE_CUDA_ARCHITECTURES "$ENV{CUDAARCHS}" CACHE STRING
                    "GPUs that the CUDA module is built for")
            endif()
            if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
                lab_cuda_architectures(CMAKE_CUDA_ARCHITECTURES ${LAB_NVCC})
            endif()
            enable_language(CUDA)
            find_package(CUDAToolkit)
            if(CUDAToolkit_FOUND)
                set(LAB_HAVE_NVCC ON)
            else()
                set(LAB_CUDA_REASON "the CUDA runtime library was not found")
            endif()
        endif()
    endif()
endif()

set(LAB_NVCC_REASON "${LAB_CUDA_REASON}")
if(LAB_CUDA STREQUAL "OFF")
    set(LAB_CUDA_REASON "LAB_CUDA is OFF")
elseif(LAB_HAVE_NVCC)
    set(LAB_HAVE_CUDA ON)
endif()
if(LAB_HAVE_CUDA)
    string(REPLACE ";" " " lab_archs "${CMAKE_CUDA_ARCHITECTURES}")
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER_VERSION}, the module is built "
        "for ${lab_archs}")
elseif(LAB_CUDA STREQUAL "ON")
    message(FATAL_ERROR "LAB_CUDA=ON, but ${LAB_CUDA_REASON}: install the CUDA "
        "toolkit or set CUDACXX to its nvcc")
else()
    message(STATUS "CUDA: left out (${LAB_CUDA_REASON}); the program runs on "
        "the CPU")
endif()
# A module of an earlier configuration must not be found at run time.
if(NOT LAB_HAVE_CUDA)
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lapenna-lab-cuda.so)
endif()
