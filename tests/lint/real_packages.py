"""The packages of real_code.py: names, versions, where their translation units are, and the flags that their builds give nvcc."""
import dataclasses
import pathlib
import subprocess
import sys
import tarfile
import zipfile


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    version: str
    source: bool = False   # the archive of the sources, not a wheel
    units: tuple = ()      # globs of translation units; empty: headers for others
    without: tuple = ()    # parts of paths to leave out: code for other hardware, tests with libraries of their own
    headers: str = ""      # glob of headers; each becomes a unit, `#include <…>`
    below: tuple = ()      # the folders whose headers are named without them
    flags: tuple = ()      # {NAME} is the folder of a package
    torch: bool = False    # an extension of PyTorch
    only: str = ""         # what is unpacked of a large archive


# What PyTorch's own builder of extensions gives (torch/utils/cpp_extension.py); since 2.12 its headers are C++20.
TORCH = ("-std=c++20", "-DTORCH_EXTENSION_NAME=unit", "-DTORCH_API_INCLUDE_EXTENSION_H", "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
         "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr", "-I{torch}/torch/include",
         "-I{torch}/torch/include/torch/csrc/api/include", "-I{python}")
HALF = ("-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__", "-U__CUDA_NO_HALF2_OPERATORS__")
BFLOAT = ("-U__CUDA_NO_BFLOAT16_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__", "-U__CUDA_NO_BFLOAT162_OPERATORS__",
          "-U__CUDA_NO_BFLOAT162_CONVERSIONS__")


def includes(name, folder, *paths):
    return tuple(f"-I{{{name}}}/{folder}/{one}" for one in paths)


def cutlass(name, folder):
    return includes(name, folder, "include", "tools/util/include", "examples/common", "examples/cute", "tools/library/include")


def torch_extension(name, version, units, *, flags=(), without=()):
    return Package(name, version, True, tuple(units), ("rocm", "hip", *without), flags=(*TORCH, *flags), torch=True)


PACKAGES = (
    Package("apache-tvm-ffi", "0.1.15.post2"),
    Package("torch", "2.15.0", only="/include/"),
    Package("flashinfer-python", "0.7.4", units=("flashinfer/**/*.cu",), flags=(
        "-std=c++17", "--expt-relaxed-constexpr", "-DNDEBUG", "-DFLASHINFER_ENABLE_F16", "-DFLASHINFER_ENABLE_BF16",
        "-DFLASHINFER_ENABLE_FP8_E4M3", "-DFLASHINFER_ENABLE_FP8_E5M2",
        *includes("flashinfer-python", "flashinfer/data", "include", "csrc", "csrc/nv_internal", "csrc/nv_internal/include",
                  "csrc/nv_internal/tensorrt_llm/cutlass_extensions/include", "cccl/cub", "cccl/thrust", "cccl/libcudacxx/include",
                  "cutlass/include", "cutlass/tools/util/include", "spdlog/include"),
        "-I{apache-tvm-ffi}/tvm_ffi/include")),
    Package("nvidia-cutlass", "4.2.0.0", units=("cutlass_library/source/examples/**/*.cu", "cutlass_library/source/tools/library/src/**/*.cu"),
            flags=("-std=c++17", "--expt-relaxed-constexpr", *cutlass("nvidia-cutlass", "cutlass_library/source"),
                   "-I{nvidia-cutlass}/cutlass_library/source/tools/library/src")),
    Package("nvidia-cuda-cccl", "13.3.5.0.6", headers="**/include/cccl/cub/**/*.cuh", below=("include", "cccl"), flags=("-std=c++17",)),
    Package("lightgbm", "4.7.0", True, ("**/*.cu",), flags=(
        "-std=c++17", "-DUSE_CUDA", *includes("lightgbm", "lightgbm-4.7.0", "include", "external_libs/fast_double_parser/include",
                                              "external_libs/fmt/include", "external_libs/eigen"))),
    Package("llama-cpp-python", "0.3.36", True, ("**/ggml/src/ggml-cuda/**/*.cu",), flags=(
        "-std=c++17", "-use_fast_math", "-extended-lambda", "-DNDEBUG", "-DGGML_CUDA_USE_GRAPHS", "-DGGML_SCHED_MAX_COPIES=4",
        "-DGGML_CUDA_PEER_MAX_BATCH_SIZE=128", "-D_GNU_SOURCE", "-D_XOPEN_SOURCE=600",
        *includes("llama-cpp-python", "llama_cpp_python-0.3.36/vendor/llama.cpp/ggml", "include", "src", "src/ggml-cuda"))),
    Package("xgboost", "3.4.1", True, ("**/cpp_src/src/**/*.cu",), flags=(
        "-std=c++17", "--expt-extended-lambda", "--expt-relaxed-constexpr", "-DXGBOOST_USE_CUDA=1", "-DXGBOOST_USE_NCCL=1",
        "-DXGBOOST_USE_DLOPEN_NCCL=1", "-DDMLC_LOG_CUSTOMIZE=1", "-DXGBOOST_MM_PREFETCH_PRESENT=1", "-DXGBOOST_BUILTIN_PREFETCH_PRESENT=1",
        *includes("nvidia-cuda-cccl", "nvidia/cu13", "include/cccl"),
        *includes("xgboost", "xgboost-3.4.1/cpp_src", "include", "dmlc-core/include"))),
    Package("cupy", "14.2.0", True, ("**/cupy/random/*.cu", "**/cupy/cuda/*.cu"), headers="**/cupy/_core/include/cupy/*.cuh", below=("include",), flags=(
        "-std=c++17", *includes("cupy", "cupy-14.2.0/cupy/_core", "include"),
        *includes("cupy", "cupy-14.2.0/cupy/_core/include/cupy/_cccl", "cub", "thrust", "libcudacxx"))),
    Package("tilelang", "0.1.14", True, (
        "tilelang-*/examples/**/*.cu", "tilelang-*/3rdparty/tvm/src/**/*.cu", "tilelang-*/3rdparty/tvm/3rdparty/tensorrt_llm/*.cu",
        "tilelang-*/3rdparty/tvm/3rdparty/libflash_attn/src/*.cu", "tilelang-*/3rdparty/tvm/3rdparty/tvm-ffi/**/*.cu",
        "tilelang-*/3rdparty/tvm/3rdparty/cutlass_fpA_intB_gemm/**/*.cu"),
            ("cutlass_fpA_intB_gemm/cutlass", "nvshmem"), headers="tilelang-*/src/tl_templates/cuda/**/*.h", below=("tl_templates", "cuda"), flags=(
        "-std=c++17", "--expt-relaxed-constexpr", "-DUSE_CUDA", *includes("tilelang", "tilelang-0.1.14", "src", "3rdparty/cutlass/include"),
        *includes("tilelang", "tilelang-0.1.14/3rdparty/tvm", "include", "3rdparty/tvm-ffi/include", "3rdparty/tvm-ffi/3rdparty/dlpack/include",
                  "3rdparty/dmlc-core/include", "3rdparty/libflash_attn/include", "3rdparty/libflash_attn/src", "3rdparty/cutlass_fpA_intB_gemm"))),
    Package("lightseq", "3.0.1", True, ("lightseq-*/lightseq/inference/**/*.cu", "lightseq-*/lightseq/csrc/**/*.cu"), ("server", "pywrapper"), flags=(
        "-std=c++17", "-DFP16_MODE", *includes("lightseq", "lightseq-3.0.1", "", "lightseq/csrc/kernels/includes", "lightseq/csrc/layers_new/includes",
                                               "lightseq/csrc/lsflow/includes", "lightseq/csrc/tools/includes", "lightseq/csrc/ops_new/includes",
                                               "lightseq/csrc/models/includes", "lightseq/csrc/proto/includes"))),
    Package("warp-lang", "1.19.0", units=("warp/native/*.cu",), flags=("-std=c++17", "-DWP_ENABLE_CUDA=1", "-DWP_BUILD_DLL", "-DNDEBUG", "-DMATHDX_ENABLED=0",
                                                                       *includes("warp-lang", "warp/native", "", "nanovdb", "cutlass/include"))),
    torch_extension("flash-attn", "2.8.3.post2", ("flash_attn-*/csrc/flash_attn/src/*.cu",), flags=(
        *HALF, *BFLOAT, "--expt-extended-lambda", "--use_fast_math",
        *includes("flash-attn", "flash_attn-2.8.3.post2/csrc", "flash_attn", "flash_attn/src", "cutlass/include"))),
    torch_extension("flash-attn", "2.8.3.post2", ("flash_attn-*/hopper/**/*.cu",), flags=(
        "--expt-extended-lambda", "--use_fast_math", "-DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED", "-DCUTLASS_ENABLE_GDC_FOR_SM90",
        "-DCUTLASS_DEBUG_TRACE_LEVEL=0", "-DNDEBUG", *includes("flash-attn", "flash_attn-2.8.3.post2", "hopper", "csrc/cutlass/include"))),
    torch_extension("flash-attn", "2.8.3.post2", ("flash_attn-*/csrc/layer_norm/*.cu", "flash_attn-*/csrc/fused_dense_lib/*.cu"), flags=(
        *HALF, *BFLOAT, "--expt-extended-lambda", "--use_fast_math", *includes("flash-attn", "flash_attn-2.8.3.post2/csrc", "layer_norm"))),
    torch_extension("xformers", "0.0.35", ("xformers-*/xformers/csrc/**/*.cu",), flags=(
        "-DHAS_PYTORCH", "--use_fast_math", "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__", "--extended-lambda",
        "-D_ENABLE_EXTENDED_ALIGNED_STORAGE", "-DNDEBUG", "-DTORCH_STABLE_ONLY", "-DTORCH_TARGET_VERSION=0x020a000000000000", "-DUSE_CUDA",
        *includes("xformers", "xformers-0.0.35", "xformers/csrc", "third_party/cutlass/include", "third_party/cutlass/tools/util/include",
                  "third_party/cutlass/examples"))),
    Package("xformers", "0.0.35", True, ("xformers-*/third_party/cutlass/examples/**/*.cu",), flags=(
        "-std=c++17", "--expt-relaxed-constexpr", *cutlass("xformers", "xformers-0.0.35/third_party/cutlass"))),
    torch_extension("vllm", "0.33.0", ("vllm-*/csrc/**/*.cu",), flags=(
        *HALF, *BFLOAT[:2], "-DENABLE_FP8", "-DUSE_CUDA", "-DVLLM_ENABLE_COOPERATIVE_TOPK=1", "-DENABLE_SCALED_MM_SM90=1", "-DENABLE_SCALED_MM_C2X=1",
        "-DENABLE_CUTLASS_MOE_SM90=1", "-DTORCH_TARGET_VERSION=0x020B000000000000ULL",
        *includes("vllm", "vllm-0.33.0", "csrc", "csrc/libtorch_stable"), *includes("nvidia-cutlass", "cutlass_library/source", "include", "tools/util/include"))),
    torch_extension("deepspeed", "0.19.8", ("deepspeed-*/csrc/**/*.cu",), flags=(
        *HALF, *BFLOAT[:3], "-DBF16_AVAILABLE", "--use_fast_math", "-DVERSION_GE_1_1", "-DVERSION_GE_1_3", "-DVERSION_GE_1_5",
        *includes("deepspeed", "deepspeed-0.19.8/csrc", "includes", "adam", "lamb", "transformer/inference/includes", "deepspeed4science/evoformer_attn"),
        *includes("xformers", "xformers-0.0.35/third_party/cutlass", "include", "tools/util/include"))),
    torch_extension("mmcv", "2.2.0", ("mmcv-*/mmcv/ops/csrc/**/*.cu",), flags=(
        "-DMMCV_WITH_CUDA", *includes("mmcv", "mmcv-2.2.0/mmcv/ops/csrc", "common", "common/cuda"))),
    torch_extension("mamba-ssm", "2.3.2.post1", ("mamba_ssm-*/csrc/**/*.cu",), flags=(
        *HALF, *BFLOAT, "--expt-extended-lambda", "--use_fast_math", *includes("mamba-ssm", "mamba_ssm-2.3.2.post1/csrc", "selective_scan"))),
    torch_extension("causal-conv1d", "1.7.0", ("causal_conv1d-*/csrc/*.cu",), flags=(*HALF, *BFLOAT, "--expt-extended-lambda", "--use_fast_math")),
    torch_extension("torch-scatter", "2.1.2", ("torch_scatter-*/csrc/cuda/*.cu",), flags=("-DWITH_CUDA", "-DWITH_PYTHON", "--expt-extended-lambda")),
    torch_extension("torch-sparse", "0.6.18", ("torch_sparse-*/csrc/cuda/*.cu",), flags=("-DWITH_CUDA", "-DWITH_PYTHON", "--expt-extended-lambda")),
    torch_extension("torch-cluster", "1.6.3", ("torch_cluster-*/csrc/cuda/*.cu",), flags=("-DWITH_CUDA", "-DWITH_PYTHON", "--expt-extended-lambda")),
    torch_extension("torch-spline-conv", "1.2.2", ("torch_spline_conv-*/csrc/cuda/*.cu",), flags=("-DWITH_CUDA", "-DWITH_PYTHON")),
    torch_extension("gsplat", "1.5.3", ("gsplat-*/gsplat/cuda/csrc/*.cu",), flags=(
        "--use_fast_math", *includes("gsplat", "gsplat-1.5.3/gsplat/cuda", "include", "csrc/third_party/glm"))),
    torch_extension("nerfacc", "0.5.3", ("nerfacc-*/nerfacc/cuda/csrc/*.cu",), flags=includes("nerfacc", "nerfacc-0.5.3/nerfacc/cuda/csrc", "include")),
    torch_extension("natten", "0.21.7", ("natten-*/csrc/src/*.cu",), flags=(
        "--use_fast_math", "--extended-lambda", "-DNDEBUG", "-DNATTEN_WITH_CUTLASS", "-DNATTEN_WITH_HOPPER_FNA",
        *includes("natten", "natten-0.21.7", "csrc/include", "csrc/autogen/include", "third_party/cutlass/include"))),
    torch_extension("auto-gptq", "0.7.1", ("auto_gptq-*/autogptq_extension/**/*.cu",)),
    torch_extension("exllamav2", "0.0.4", ("exllamav2-*/exllamav2/**/*.cu",)),
    torch_extension("optimum-quanto", "0.2.7", ("optimum_quanto-*/**/cuda/**/*.cu",), flags=HALF),
)


def download(name, version, source, folder):
    """By pip's own finder: `pip download` would run setup.py, which wants PyTorch. None: it cannot be had."""
    kind = ("--no-binary", name) if source else ("--only-binary", ":all:")
    program = (
        "import sys\n"
        "from pip._internal.commands.download import DownloadCommand\n"
        "from pip._internal.network.download import Downloader\n"
        "from pip._vendor.packaging.specifiers import SpecifierSet\n"
        "name, version, folder, *kind = sys.argv[1:]\n"
        "command = DownloadCommand('download', '')\n"
        "options, _ = command.parse_args(['--quiet', '--no-deps', '--dest', folder, *kind, name])\n"
        "with command.main_context():\n"
        "    session = command.get_default_session(options)\n"
        "    finder = command._build_package_finder(options=options, session=session, ignore_requires_python=True)\n"
        "    found = finder.find_best_candidate(name, SpecifierSet('==' + version)).best_candidate\n"
        "    print(Downloader(session, 'off')(found.link, folder)[0])\n")
    done = subprocess.run([sys.executable, "-c", program, name, version, folder, *kind], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{name} {version}: {done.stderr.strip()[-300:]}")
        return None
    return pathlib.Path(done.stdout.split()[-1])


def fetch(package, cache):
    """The folder of the unpacked package; None: it cannot be had."""
    folder = cache / f"{package.name}-{package.version}"
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    archive = download(package.name, package.version, package.source, folder)
    if archive is None:
        return None
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as whole:
            whole.extractall(folder, [name for name in whole.namelist() if package.only in name])
    else:
        with tarfile.open(archive) as whole:
            whole.extractall(folder, filter="data")
    archive.unlink()
    (folder / "done").touch()
    return folder
