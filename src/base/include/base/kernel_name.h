/* base/kernel_name.h -- readable names of kernels.
 *
 * Threads: any. */
#pragma once
#include <stddef.h>
#include "base/status.h"

LAB_C_BEGIN
/* "_Z8relu_fwdPfPKfl" -> "relu_fwd(float*, float const*, long)". What is no
 * C++ name, or cannot be read, comes back as it is. The C++ library that knows
 * how is loaded on the first call; without it names stay as they are. NULL:
 * memory is short. Free with lab_free(). */
char *lab_kernel_demangle(const char *mangled);

/* The bare name: no return type, scope, template arguments or parameters.
 * "void ns::k<int>(float*)" -> "k". Takes mangled plain functions too
 * ("_Z1kPf" -> "k"). At most bytes-1 characters and NUL. */
void lab_kernel_short_name(char *out, size_t bytes, const char *demangled);
LAB_C_END
