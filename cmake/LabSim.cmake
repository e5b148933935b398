# The simulator executes the CUDA kernels' PTX, which nvcc makes; a GPU or a driver
# is not needed. LabCuda.cmake has found nvcc or not.
set(LAB_HAVE_SIM OFF)
if(LAB_SIM STREQUAL "OFF")
    set(LAB_SIM_REASON "LAB_SIM is OFF")
elseif(NOT LAB_HAVE_NVCC)
    set(LAB_SIM_REASON "${LAB_NVCC_REASON}")
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
    set(LAB_SIM_REASON "nvcc ${CMAKE_CUDA_COMPILER_VERSION} knows no compute_90a")
else()
    set(LAB_HAVE_SIM ON)
endif()
if(LAB_HAVE_SIM)
    message(STATUS "Simulator: nvcc ${CMAKE_CUDA_COMPILER_VERSION} makes its kernels")
elseif(LAB_SIM STREQUAL "ON")
    message(FATAL_ERROR "LAB_SIM=ON, but ${LAB_SIM_REASON}: put nvcc of CUDA 12 "
        "or later on PATH")
else()
    message(STATUS "Simulator: its kernels are left out (${LAB_SIM_REASON})")
    # A module of an earlier configuration must not be found at run time.
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lapenna-lab-sim.so)
endif()
