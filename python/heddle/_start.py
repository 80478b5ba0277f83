"""Before and after `import torch` and modules of Triton and tilelang: see install()."""
import importlib.abc
import importlib.machinery
import os
import sys


def _torch(load, module):
    from heddle.torch import setup

    folder = os.path.dirname(module.__spec__.origin)
    setup.before_import(folder)
    load()
    setup.after_import(module, folder)


def _triton_testing(load, module):
    from heddle import _triton

    load()
    _triton.measure_once(module)


def _triton_autotuner(load, module):
    from heddle import _triton

    load()
    _triton.take_first_configuration(module)


def _tilelang(load, module):
    from heddle import _tilelang

    _tilelang.keep_apart()
    load()


def _tilelang_compiler(load, module):
    from heddle import _tilelang

    load()
    _tilelang.compile_to_ptx(module)


_AROUND = {"torch": _torch, "triton.testing": _triton_testing, "triton.runtime.autotuner": _triton_autotuner,
           "tilelang": _tilelang, "tilelang.contrib.nvcc": _tilelang_compiler,
           "tilelang.contrib.nvrtc": _tilelang_compiler}


class _Loader(importlib.abc.Loader):
    """A module's own loader, with Heddle's part before and after it."""

    def __init__(self, loader, around):
        self._loader = loader
        self._around = around

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._around(lambda: self._loader.exec_module(module), module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self._left = dict(_AROUND)

    def find_spec(self, name, path=None, target=None):
        around = self._left.pop(name, None)
        if around is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None and spec.origin is not None:
            spec.loader = _Loader(spec.loader, around)
        return spec


def install():
    """In a process of Heddle's, PyTorch computes its operators on the CPU (heddle.torch), Triton measures once,
    and tilelang compiles to PTX."""
    if "HEDDLE_MODE" in os.environ:
        sys.meta_path.insert(0, _Finder())
