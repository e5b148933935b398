# Tests of the profiler that need a header of the CUDA toolkit, not a GPU.
find_path(LAB_OCCUPANCY_INCLUDE cuda_occupancy.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
find_path(LAB_CUPTI_INCLUDE cupti.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS}
    PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
find_path(LAB_CUDA_INCLUDE cuda.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)

# With the header, each answer is compared with NVIDIA's; without it the fixed
# cases remain.
lab_test(test_occupancy test_occupancy.c unit lab_profiler)
if(LAB_OCCUPANCY_INCLUDE)
    target_include_directories(test_occupancy SYSTEM PRIVATE
        ${LAB_OCCUPANCY_INCLUDE})
    target_compile_definitions(test_occupancy PRIVATE LAB_HAVE_CUDA_OCCUPANCY)
endif()

# The module's half of the trace, with a libcupti that the test plays.
if(LAB_CUPTI_INCLUDE AND LAB_CUDA_INCLUDE)
    set(cuda_dir ${CMAKE_SOURCE_DIR}/src/profiler/cuda)
    file(GLOB cupti_sources CONFIGURE_DEPENDS ${cuda_dir}/*.c)
    add_library(fake_cupti MODULE fake_cupti.c fake_counters.c)
    target_link_libraries(fake_cupti PRIVATE lab_flags)
    target_include_directories(fake_cupti SYSTEM PRIVATE ${LAB_CUPTI_INCLUDE}
        ${LAB_CUDA_INCLUDE} ${cuda_dir}/no_cpp)
    target_include_directories(fake_cupti PRIVATE ${cuda_dir})
    foreach(name test_profiler_cupti test_profiler_marks)
        lab_test(${name} ${name}.c unit lab_profiler ${CMAKE_DL_LIBS})
        target_sources(${name} PRIVATE ${cupti_sources})
        target_include_directories(${name} SYSTEM PRIVATE
            ${LAB_CUPTI_INCLUDE} ${LAB_CUDA_INCLUDE} ${cuda_dir}/no_cpp)
        target_include_directories(${name} PRIVATE ${cuda_dir})
        target_compile_definitions(${name} PRIVATE
            LAB_FAKE_CUPTI="$<TARGET_FILE:fake_cupti>")
        add_dependencies(${name} fake_cupti)
    endforeach()
    lab_test(test_profiler_counters test_profiler_counters.c unit lab_net
        lab_profiler ${CMAKE_DL_LIBS})
    target_sources(test_profiler_counters PRIVATE ${cupti_sources})
    target_include_directories(test_profiler_counters SYSTEM PRIVATE
        ${LAB_CUPTI_INCLUDE} ${LAB_CUDA_INCLUDE} ${cuda_dir}/no_cpp)
    target_include_directories(test_profiler_counters PRIVATE ${cuda_dir})
    target_compile_definitions(test_profiler_counters PRIVATE
        LAB_FAKE_CUPTI="$<TARGET_FILE:fake_cupti>")
    set_target_properties(test_profiler_counters PROPERTIES ENABLE_EXPORTS ON)
    add_dependencies(test_profiler_counters fake_cupti)
    # The same program with the real host library, where there is one; clang's
    # sanitizers refuse the way in which it is loaded (RTLD_DEEPBIND).
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang" OR NOT LAB_SANITIZE)
        lab_script_test(test_profiler_metrics unit test_profiler_counters real)
    endif()
endif()
