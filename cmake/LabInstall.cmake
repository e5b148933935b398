include(GNUInstallDirs)
install(TARGETS lapenna-lab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
