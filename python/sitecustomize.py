"""Runs before a Python script that `heddle run` starts: waits for `import torch`.

Python imports one sitecustomize, so the one that would have been imported without Heddle follows.
"""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _follow():
    path = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    from heddle import _start

    _start.install()
except ImportError as error:  # a broken installation
    sys.stderr.write(f"heddle: warning: PyTorch's operators cannot be computed: {error}\n")
_follow()
