#pragma once
#ifdef __cplusplus
#include "cuda_runtime.h"
#else
#include "host_runtime.h"
#endif
