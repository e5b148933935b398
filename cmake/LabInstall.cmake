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
if(TARGET lapenna-lab-sim)
    install(TARGETS lapenna-lab-sim LIBRARY DESTINATION lib/lapenna-lab
        COMPONENT sim)
endif()

install(DIRECTORY lessons DESTINATION ${lab_data}
    PATTERN "*.py" EXCLUDE)
install(DIRECTORY kernels DESTINATION ${lab_data}
    FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.cu" PATTERN "*.cuh"
    PATTERN "*.inc"
    PATTERN "*.def")
# The headers with which clang compiles a kernel for the simulator.
install(DIRECTORY src/sim/clang DESTINATION ${lab_data}/sim)
if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/profiles)
    install(DIRECTORY profiles DESTINATION ${lab_data})
endif()

# The manual page and the completions list options: option_pages writes those, by
# the table of the program.
add_executable(option_pages cmake/option_pages.c)
target_link_libraries(option_pages PRIVATE lab_flags lab_debug)
set(pages "")
function(lab_page kind template where page)
    set(path ${CMAKE_BINARY_DIR}/share/${where}/${page})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/${where})
    add_custom_command(OUTPUT ${path}
        COMMAND option_pages ${kind} ${CMAKE_SOURCE_DIR}/${template} ${path}
        DEPENDS option_pages ${template} VERBATIM)
    install(FILES ${path} DESTINATION ${CMAKE_INSTALL_DATADIR}/${where})
    set(pages ${pages} ${path} PARENT_SCOPE)
endfunction()
lab_page(man docs/lapenna-lab.1.in man/man1 lapenna-lab.1)
lab_page(bash completions/lapenna-lab.bash.in bash-completion/completions
    lapenna-lab)
lab_page(zsh completions/_lapenna-lab.in zsh/site-functions _lapenna-lab)
add_custom_target(pages ALL DEPENDS ${pages})
add_dependencies(program pages)

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
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/lapenna-lab/sim)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/sim/clang
    ${CMAKE_BINARY_DIR}/share/lapenna-lab/sim/clang SYMBOLIC)
