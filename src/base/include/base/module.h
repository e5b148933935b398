/* base/module.h -- the program's shared modules, opened while it runs.
 *
 * CUDA and oneDNN are modules so that the program itself links neither and
 * starts on a machine that has neither. A module is looked for in the folder
 * that the environment names in LAPENNA_LAB_MODULE_DIR, and only there when it
 * is set; else beside the program: ../lib/lapenna-lab, then ../lib, seen from
 * the folder of the executable. Threads: any. */
#pragma once
#include "base/status.h"

LAB_C_BEGIN
/* Opens the module `file` ("lapenna-lab-cuda.so": a name, not a path) and
 * hands out its dlopen() handle, which stays open until the program ends.
 * LAB_E_NOTFOUND      no folder has the file (the detail names the folders)
 * LAB_E_UNSUPPORTED   it is there and cannot be loaded, for a library that it
 *                     needs is missing, for example (the detail has the loader's message)
 * LAB_E_ARG           not a plain file name */
enum lab_status lab_module_open(const char *file, void **handle);

/* Sets the pointer at `pointer`, to a function or an object, to `symbol` of an open
 * module; LAB_E_NOTFOUND without it. */
enum lab_status lab_module_symbol(void *handle, const char *symbol,
                                  void *pointer);
LAB_C_END
