"""Before and after `import torch`: see install()."""
import importlib.abc
import importlib.machinery
import os
import sys


class _Loader(importlib.abc.Loader):
    """PyTorch's own loader, with Heddle's part before and after it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        from heddle.torch import setup

        folder = os.path.dirname(module.__spec__.origin)
        setup.before_import(folder)
        self._loader.exec_module(module)
        setup.after_import(module, folder)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None and spec.origin is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def install():
    """In a process of Heddle's, PyTorch computes its operators on the CPU (heddle.torch)."""
    if "HEDDLE_MODE" in os.environ:
        sys.meta_path.insert(0, _Finder())
