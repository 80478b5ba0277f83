// The library: the sum of an array on the device.
#pragma once

/// The sum of `count` integers at `values`, device memory.
int sum_on_device(const int* values, int count);

/// Writes their prefix sums to `sums`, device memory. 0: it has worked.
int prefix_on_device(const int* values, int* sums, int count);
