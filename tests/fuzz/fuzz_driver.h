/* fuzz_driver.h -- the entry of a fuzz target, as libFuzzer declares it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
