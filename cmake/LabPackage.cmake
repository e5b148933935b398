# Debian packages by CPack: `./lab package`, or `cpack` in a build tree. Four of
# them: the program with its lessons and recorded runs, and a module each for CUDA,
# the simulator and oneDNN, which it finds at start.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lapenna-lab)
set(CPACK_PACKAGE_VENDOR "the lapenna-lab developers")
set(CPACK_PACKAGE_CONTACT "the lapenna-lab developers <lapenna-lab@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
# The libraries that a binary was linked with, as packages.
find_program(LAB_SHLIBDEPS dpkg-shlibdeps)
if(LAB_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lapenna-lab)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Walk the forward pass, the loss, the backward pass and the update of MLP,
CNN, LSTM and transformer lessons one step at a time, see the kernels that ran,
swap the implementation under a step, and compare runs.")
# Loaded at run time, so that dpkg-shlibdeps does not see them.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS libopenblas0)
if(FREETYPE_FOUND AND FONTCONFIG_FOUND)
    string(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS
        ", libfontconfig1, libfreetype6")
endif()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS
    "lapenna-lab-onednn, lapenna-lab-sim, fonts-dejavu-core")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS lapenna-lab-cuda)

if(TARGET lab_onednn)
    list(APPEND CPACK_COMPONENTS_ALL onednn)
    set(CPACK_DEBIAN_ONEDNN_PACKAGE_NAME lapenna-lab-onednn)
    set(CPACK_COMPONENT_ONEDNN_DESCRIPTION
        "Variants of the steps of lapenna-lab by oneDNN.")
    set(CPACK_DEBIAN_ONEDNN_PACKAGE_DEPENDS
        "lapenna-lab (= ${PROJECT_VERSION})")
endif()
if(TARGET lapenna-lab-sim)
    list(APPEND CPACK_COMPONENTS_ALL sim)
    set(CPACK_DEBIAN_SIM_PACKAGE_NAME lapenna-lab-sim)
    set(CPACK_COMPONENT_SIM_DESCRIPTION
        "The CUDA kernels of lapenna-lab for its simulator: they run without a
GPU.")
    set(CPACK_DEBIAN_SIM_PACKAGE_DEPENDS "lapenna-lab (= ${PROJECT_VERSION})")
endif()
if(TARGET lapenna-lab-cuda)
    list(APPEND CPACK_COMPONENTS_ALL cuda)
    set(CPACK_DEBIAN_CUDA_PACKAGE_NAME lapenna-lab-cuda)
    set(CPACK_COMPONENT_CUDA_DESCRIPTION
        "The CUDA kernels of lapenna-lab and its profiler of NVIDIA GPUs.")
    set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "lapenna-lab (= ${PROJECT_VERSION})")
    # Loaded at run time, each of them optional; named as NVIDIA names them.
    string(REGEX MATCH "^[0-9]+" major "${CUDAToolkit_VERSION}")
    string(REGEX MATCH "^[0-9]+[.][0-9]+" minor "${CUDAToolkit_VERSION}")
    string(REPLACE "." "-" minor "${minor}")
    set(CPACK_DEBIAN_CUDA_PACKAGE_RECOMMENDS "libcublas-${minor}, \
libcusolver-${minor}, cuda-cupti-${minor}, libcudnn9-cuda-${major}")
endif()
include(CPack)
