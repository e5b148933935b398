/* run_device.h -- a backend's device as a run's record has it. */
#pragma once
#include "engine/backend.h"
#include "store/writer.h"

/* The texts stay `info`'s. */
void lab_run_device_fill(struct lab_run_device *out,
                         const struct lab_device_info *info, bool gpu);
