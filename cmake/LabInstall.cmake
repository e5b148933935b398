# What goes where on `cmake --install`. The program finds its modules and data
# relative to itself, so the tree may be moved after it was installed.
include(GNUInstallDirs)
set(lab_data ${CMAKE_INSTALL_DATADIR}/lapenna-lab)

# The modules are components of their own, so that a package of the program needs
# neither NVIDIA's libraries nor oneDNN (LabPackage.cmake).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS lapenna-lab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Not under a multiarch directory: the program looks in ../lib/lapenna-lab. The
# oneDNN module installs itself there.
if(TARGET lapenna-lab-cuda)
    install(TARGETS lapenna-lab-cuda LIBRARY DESTINATION lib/lapenna-lab
        COMPONENT cuda)
endif()

install(DIRECTORY lessons DESTINATION ${lab_data}
    PATTERN "*.py" EXCLUDE)
install(DIRECTORY kernels DESTINATION ${lab_data}
    FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.cu" PATTERN "*.cuh"
    PATTERN "*.def")
if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/profiles)
    install(DIRECTORY profiles DESTINATION ${lab_data})
endif()

install(FILES docs/lapenna-lab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/lapenna-lab.bash RENAME lapenna-lab
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_lapenna-lab
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
file(GLOB docs CONFIGURE_DEPENDS docs/*.md)
install(FILES README.md CHANGELOG.md LICENSE ${docs}
    DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The build tree looks like the installed one, so that a program started from
# it finds the same places, and shows an edited lesson without a build.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/lapenna-lab)
foreach(dir lessons kernels profiles)
    if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${dir})
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${dir}
            ${CMAKE_BINARY_DIR}/share/lapenna-lab/${dir} SYMBOLIC)
    endif()
endforeach()
