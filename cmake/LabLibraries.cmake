# Libraries from the system. Each is a Debian package that ./lab installs.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.31) # create_filename
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(NCURSESW REQUIRED IMPORTED_TARGET ncursesw)
pkg_check_modules(MD4C REQUIRED IMPORTED_TARGET md4c)
# Its header; the library is loaded at run time (kernels/library/openblas.h).
pkg_check_modules(OPENBLAS REQUIRED openblas)

# oneDNN is optional: many machines have none. kernels/CMakeLists.txt reports
# whether its module is built.
find_path(DNNL_INCLUDE dnnl.h)
find_library(DNNL_LIBRARY dnnl)

# Text in PNG pictures is optional: without these they are SVG.
# Their headers; the libraries are loaded with the first picture.
pkg_check_modules(FREETYPE QUIET freetype2)
pkg_check_modules(FONTCONFIG QUIET fontconfig)
