#!/usr/bin/env python3
"""Reads the profiler's table (ncu --csv) of one case of the benchmark, prints what each operation moved per key.

The benchmark runs, in this order: bulk insertion by bins (two kernels), direct insertion, searches that succeed,
searches that fail."""
import csv
import sys

NAMES = {"partition_pairs": "insert: sort", "insert_bins": "insert: bins", "bulk_insert": "insert, direct"}


def main():
    name, load, millions = sys.argv[1:4]
    rows = list(csv.DictReader(line for line in sys.stdin if line.startswith('"')))
    kernels = {}
    for row in rows:
        kernel = kernels.setdefault(int(row["ID"]), {"name": row["Kernel Name"]})
        kernel[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    finds = 0
    for kernel in kernels.values():
        label = next((text for part, text in NAMES.items() if part in kernel["name"]), None)
        if label is None:
            finds += 1
            label = "find" if finds == 1 else "miss"
        keys = float(millions) * 1e6
        print(f"{name} {load} {label:15} DRAM sectors read {kernel['dram__sectors_read.sum'] / keys:5.2f} "
              f"written {kernel['dram__sectors_write.sum'] / keys:5.2f}, L2 requests "
              f"{kernel['lts__t_requests.sum'] / keys:5.2f} per key")


if __name__ == "__main__":
    main()
