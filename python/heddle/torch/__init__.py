"""PyTorch under Heddle: its operators are computed by its own CPU kernels on the device's memory.

    setup.py        what happens before and after `import torch`
    operators/      the module in C++ that registers the kernels, compiled for each version of PyTorch
"""
