"""tilelang compiles its kernels to machine code, with nvcc or NVRTC. Heddle needs PTX, which the driver takes, too."""
import functools
import os


def keep_apart():
    """Before `import tilelang`: what was compiled for a GPU is not found, nor the other way round."""
    cache = os.environ.get("HEDDLE_TORCH_CACHE")
    if cache:
        os.environ.setdefault("TILELANG_CACHE_DIR", os.path.join(cache, "tilelang"))


def compile_to_ptx(module):
    """tilelang.contrib.nvcc and tilelang.contrib.nvrtc: compile_cuda(code, target_format, …)."""
    compile_cuda = module.compile_cuda

    @functools.wraps(compile_cuda)
    def ptx(code, target_format="ptx", *arguments, **named):
        return compile_cuda(code, "ptx", *arguments, **named)

    module.compile_cuda = ptx
