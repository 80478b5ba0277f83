"""What a report advises: the reason that it names, the lines it shows, and the commands that it proposes."""
import json
import os
import subprocess
import unittest

from programs import SameFolder

HEDDLE = os.environ["HEDDLE"]

# The first letter of the argument chooses what goes wrong.
PROGRAM = """#include <cstdio>
#include <cstring>
__constant__ float weights[5];
__global__ void fixed(float* o, int n) { __shared__ float s[8]; s[threadIdx.x + n] = 1; __syncthreads(); o[threadIdx.x] = s[threadIdx.x]; }
__global__ void given(float* o, int n) { extern __shared__ float s[]; s[threadIdx.x + n] = 1; __syncthreads(); o[threadIdx.x] = s[threadIdx.x]; }
__global__ void parted(float* o) { if (threadIdx.x & 1) __syncthreads(); else { __syncthreads(); o[threadIdx.x] = 1; } }
__global__ void early(float* o, int rows, int rounds) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    sum += o[i];
  }
  o[row + 32] = sum;
}
template <int N> __global__ void of_template(float* o) { o[threadIdx.x + N] = 1; }
__global__ void add(float* o, const float* in) { o[threadIdx.x] += in[threadIdx.x]; }
int main(int, char** argv) {
  float *o, host[256] = {};
  cudaMalloc(&o, 1024);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  float* pinned;
  cudaMallocHost(&pinned, 1024);
  memset(pinned, 0, 1024);
  switch (argv[1][0]) {
  case 'f': fixed<<<1, 8>>>(o, 1); break;
  case 'g': given<<<1, 8>>>(o, 0); break;
  case 'p': parted<<<1, 64>>>(o); break;
  case 'e': cudaMemset(o, 0, 1024); early<<<1, 64>>>(o, 40, 3); break;
  case 't':
    of_template<1000>
        <<<1, 1>>>(o);
    break;
  case 'c': // copies that race
    cudaMemcpyAsync(o, pinned, 1024, cudaMemcpyHostToDevice, a);
    cudaMemcpyAsync(pinned, o, 1024, cudaMemcpyDeviceToHost, b);
    break;
  case 'm': // cudaMemcpy does not wait
    cudaMemcpy(o, host, 1024, cudaMemcpyHostToDevice);
    add<<<1, 32, 0, a>>>(o + 64, o);
    break;
  case 'k': cudaMemcpy(o, host, 64, cudaMemcpyDeviceToHost); break; // the other way round
  case 's': cudaMemcpyToSymbol(weights, host, 24); break;
  case 'u': add<<<1, 32>>>(o + 64, o); break;
  case 'n': { // a node of a graph that another one needs
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t copy, kernel;
    cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, o, pinned, 1024, cudaMemcpyHostToDevice);
    float* to = o + 64;
    void* arguments[] = {&to, &o};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = 1;
    params.blockDim = 32;
    params.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, a);
    break;
  }
  case 'w': puts("result wrong"); return 1;
  }
  cudaDeviceSynchronize();
  cudaFreeHost(pinned);
  cudaFree(o);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
"""


def line_of(text):
    """The only line that has it."""
    (number,) = [i for i, line in enumerate(PROGRAM.splitlines(), 1) if text in line]
    return number


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = SameFolder("cli.advice")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = cls.folder.path
        (cls.root / "app.cu").write_text(PROGRAM)

    def heddle(self, *arguments, status):
        done = subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, cwd=self.root, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_it(self, what, *flags, status=1):
        return self.heddle("run", *flags, "app.cu", "--", what, status=status)

    def findings(self, what, *flags, status=1):
        self.run_it(what, "--format=json", "-o", "report", *flags, status=status)
        return json.loads((self.root / "report").read_text())["findings"]

    def places(self, finding):
        return [(place["line"], place["text"]) for place in finding["locations"]]

    def races(self, what):
        found = [one for one in self.findings(what, "--races") if one["code"] == "data-race"]
        self.assertTrue(found)
        return found

    def test_an_array_of_a_fixed_size_needs_no_third_argument(self):
        said = self.run_it("f")
        self.assertIn("32 bytes, all static", said)
        self.assertIn("help: keep the index below the size of the `__shared__` array", said)
        self.assertNotIn("third argument", said)
        self.assertIn("third argument of <<<…>>>: this launch gives 0", self.run_it("g"))

    def test_nothing_leaks_after_a_kernel_has_failed(self):
        said = self.run_it("p", "--leaks")
        self.assertIn("error[barrier-divergence]", said)
        self.assertNotIn("[leak]", said)

    def test_a_loop_that_all_leave_together_is_no_way_past_a_barrier(self):
        (finding,) = self.findings("e", status=0)
        ways = [line for line, text in self.places(finding) if "skip the barrier here" in text]
        self.assertEqual(ways, [line_of("if (row >= rows)")])

    def test_the_launch_of_a_template_is_where_it_is_launched(self):
        launches = [line for line, text in self.places(self.findings("t")[0]) if text == "launched from here"]
        self.assertIn(launches, ([line_of("of_template<1000>")], [line_of("<<<1, 1>>>(o);")]))

    def test_copies_that_race_have_lines(self):
        races = self.races("c")
        lines = {line for race in races for line, _ in self.places(race)}
        self.assertLessEqual({line_of("cudaMemcpyAsync(o,"), line_of("cudaMemcpyAsync(pinned,")}, lines)
        self.assertNotIn("-lineinfo", json.dumps(races))

    def test_why_a_copy_does_not_order(self):
        races = self.races("m")
        self.assertIn("cudaMemcpy returns when it has copied pageable memory aside", json.dumps(races))
        self.assertIn(line_of("cudaMemcpy(o, host, 1024"), [line for line, _ in self.places(races[0])])

    def test_nodes_of_a_graph_need_an_edge(self):
        races = self.races("n")
        self.assertIn("add an edge between them", json.dumps(races))
        self.assertIn(line_of("cudaGraphLaunch"), [line for line, _ in self.places(races[0])])

    def test_which_argument_is_wrong(self):
        self.assertIn("the variable has 20 bytes, and the call goes from byte 0 to byte 24", self.run_it("s"))
        self.assertIn("the direction is cudaMemcpyDeviceToHost, but the source is host memory that no device reaches",
                      self.run_it("k"))

    def test_the_command_that_shows_a_finding_of_a_check(self):
        said = self.heddle("check", "app.cu", "--", "u", status=1)
        self.assertIn("seen by: heddle run --races --uninitialised --seed=0 app.cu -- u", said)
        self.assertIn("'heddle run --races --uninitialised' looks for what makes a result wrong",
                      self.heddle("check", "app.cu", "--", "w", status=1))

    def test_each_code_has_a_line(self):
        self.assertRegex(self.heddle("explain", status=0), r"(?m)^data-race +two threads access the same bytes")

    def test_help_of_a_command(self):
        for words in (["help", "run"], ["help", "lint"], ["help"]):
            self.assertIn("Usage", self.heddle(*words, status=0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
