"""What Triton measures, it measures once: times of Heddle's execution say nothing about a GPU."""
import os
import sys


def measure_once(testing):
    """triton.testing: benchmarks call their function once, not for a tenth of a second of a GPU's."""

    def once(fn, quantiles, return_mode):
        import torch

        fn()
        torch.cuda.synchronize()
        return testing._summarize_statistics([1.0], quantiles, return_mode)

    def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
        return once(fn, quantiles, return_mode)

    def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
        return once(fn, quantiles, return_mode)

    testing.do_bench = do_bench
    testing.do_bench_cudagraph = do_bench_cudagraph


def take_first_configuration(autotuner):
    """triton.runtime.autotuner: the first configuration that fits the device, and none is executed for it."""
    if os.environ.get("HEDDLE_TRITON_AUTOTUNE") == "all":
        return
    bench = autotuner.Autotuner._bench
    said = set()

    def first_that_fits(self, *args, config, **meta):
        chosen = getattr(self, "_heddle_chosen", None)
        if chosen is not None and chosen[0] is self.nargs:  # of this call
            return [2.0, 2.0, 2.0]
        run = self.fn.run
        before, cached = self._do_bench, self.__dict__.pop("do_bench", None)
        # do_bench would call the kernel: it is compiled and loaded only, and fails as it would there.
        self._do_bench = lambda call, quantiles: _fits(run, args, dict(meta, **config.all_kwargs()))
        try:
            time = bench(self, *args, config=config, **meta)
        finally:
            self._do_bench = before
            self.__dict__.pop("do_bench", None)
            if cached is not None:
                self.__dict__["do_bench"] = cached
        if time[0] == 1.0:
            self._heddle_chosen = (self.nargs, config)
            name = self.base_fn.__name__
            if name not in said:
                said.add(name)
                sys.stderr.write(f"heddle: triton.autotune: kernel '{name}' runs in the first of {len(self.configs)} "
                                 f"configurations: {config} (HEDDLE_TRITON_AUTOTUNE=all: each is tried once)\n")
        return time

    autotuner.Autotuner._bench = first_that_fits


def _fits(run, args, current):
    kernel = run(*args, **{**current, "warmup": True})
    if hasattr(kernel, "result"):
        kernel = kernel.result()
    if hasattr(kernel, "_init_handles"):
        kernel._init_handles()  # loads it: too much shared memory is said here
    return [1.0, 1.0, 1.0]
