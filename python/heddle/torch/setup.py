"""What happens around `import torch`."""
import ctypes
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

_SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators")
_ALLOCATOR = "backend:cudaMallocAsync"


def before_import(folder):
    """folder: of the package torch."""
    _use_plain_allocations()
    _load_stand_ins()


def after_import(torch, folder):
    if torch.version.cuda is None or not torch.cuda.is_available():
        return
    library = _compiled(torch, folder)
    if library is not None:
        torch.ops.load_library(library)
        torch.backends.cudnn.enabled = False


def _use_plain_allocations():
    """Each tensor is an allocation of its own, in the order of its stream, and none is a part of a segment."""
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        if "backend" in os.environ.get(name, ""):
            return
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        given = os.environ.get(name)
        if given:
            os.environ[name] = f"{given},{_ALLOCATOR}"
            return
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = _ALLOCATOR


def _load_stand_ins():
    """NVIDIA's libraries that PyTorch is linked with and that nobody calls: they need not be installed.

    The dynamic linker takes what is loaded already under the name that it looks for.
    """
    library = os.path.dirname(os.path.realpath(_runtime_path()))
    for path in sorted(glob.glob(os.path.join(library, "absent", "*.so*"))):
        ctypes.CDLL(path, mode=os.RTLD_LAZY | os.RTLD_LOCAL)


def _runtime_path():
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            found = re.search(r"/\S*/libheddle_(bind|nvrtc)\.so", line)
            if found:
                return found.group()
    return os.environ.get("LD_LIBRARY_PATH", "").split(":")[0] + "/."


def _cache():
    return os.environ.get("HEDDLE_TORCH_CACHE") or os.path.join(tempfile.gettempdir(), f"heddle-torch-{os.getuid()}")


def _compiled(torch, folder):
    """The module for this PyTorch; made when it is first needed. None: it cannot be made, which is said."""
    sources = sorted(glob.glob(os.path.join(_SOURCES, "*")))
    name = hashlib.sha256()
    name.update(f"{torch.__version__} {torch.version.git_version} {torch.compiled_with_cxx11_abi()}".encode())
    for path in sources:
        with open(path, "rb") as file:
            name.update(file.read())
    target = os.path.join(_cache(), f"operators-{name.hexdigest()[:16]}.so")
    if os.path.exists(target):
        return target
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        _say("error: PyTorch's operators need a module that is compiled once: there is no g++ on PATH")
        return None
    os.makedirs(_cache(), exist_ok=True)
    with open(f"{target}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several processes that start together, one compiles
        if os.path.exists(target):
            return target
        _say(f"compiling a module for PyTorch {torch.__version__} (once, half a minute)")
        return target if _compile(torch, folder, compiler, target) else None


def _compile(torch, folder, compiler, target):
    made = f"{target}.{os.getpid()}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "HEDDLE_"))}
    command = [*compiler.split(), "-std=c++20", "-O1", "-fPIC", "-shared", "-w",
               f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}", f"-I{folder}/include",
               os.path.join(_SOURCES, "register.cpp"), f"-L{folder}/lib", "-lc10", "-ltorch_cpu", "-ldl", "-o", made]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        _say(f"error: the module does not compile for PyTorch {torch.__version__}:\n{done.stderr[-2000:]}")
        return False
    os.replace(made, target)
    return True


def _say(text):
    sys.stderr.write(f"heddle: {text}\n")
