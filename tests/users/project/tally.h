// The library: the sum of an array on the device.
#pragma once

/// The sum of `count` integers at `values`, device memory.
int sum_on_device(const int* values, int count);
