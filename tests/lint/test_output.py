#!/usr/bin/env python3
"""The outputs, options and suppressions of heddle-lint.

    test_output.py HEDDLE_LINT
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LINT = None
CLANG_TIDY = os.environ.get("HEDDLE_CLANG_TIDY", "clang-tidy-22")  # of the version that the module is built with
SOURCE = """__global__ void a(int *p) {
  if (threadIdx.x < 3) {
    p[0] = 1;
    __syncthreads();
  }
  p[1] = 2;
  if (threadIdx.x < 3) __syncthreads(); // NOLINT(cuda-1.14): one warp only
  p[1] = 3;
  if (threadIdx.x < 3) __syncthreads(); // NOLINT(cuda-1.14)
  p[1] = 4;
  __syncthreads(); // NOLINT(CUDA-1.14): not needed
}
"""
EXIT = """__global__ void a(int *p, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  p[i] = 1;
  __syncthreads();
  p[1] = 2;
}
"""
EXIT_FIXED = """__global__ void a(int *p, int n) {
  int i = threadIdx.x;
  const bool is_active = !(i >= n);
  if (is_active) {
    p[i] = 1;
  }
  __syncthreads();
  if (is_active) {
    p[1] = 2;
  }
}
"""


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def validate_sarif(log):
    """SARIF 2.1.0, the required properties and the types of what we write (sections 3.13 to 3.55)."""
    require(log["version"] == "2.1.0", "version")
    require(log["$schema"].endswith("sarif-schema-2.1.0.json"), "$schema")
    require(isinstance(log["runs"], list), "runs")

    def location(one):
        place = one["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        require(isinstance(uri, str) and " " not in uri and "\\" not in uri, f"uri {uri}")
        region = place.get("region")
        if region is not None:
            require(region["startLine"] >= 1 and region["startColumn"] >= 1, "region starts at 1")
            require((region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"]), "region")

    for run in log["runs"]:
        driver = run["tool"]["driver"]
        require(isinstance(driver["name"], str), "driver.name")
        ids = [rule["id"] for rule in driver["rules"]]
        require(len(ids) == len(set(ids)), "rule ids are unique")
        require(all(rule["shortDescription"]["text"] for rule in driver["rules"]), "descriptions")
        for invocation in run["invocations"]:
            require(isinstance(invocation["executionSuccessful"], bool), "executionSuccessful")
        for result in run["results"]:
            require(result["message"]["text"], "message")
            require(result["level"] in ("none", "note", "warning", "error"), "level")
            require(ids[result["ruleIndex"]] == result["ruleId"], "ruleIndex")
            require(result["partialFingerprints"] if "suppression" not in result["ruleId"] else True, "fingerprints")
            for one in result["locations"] + result.get("relatedLocations", []):
                location(one)
            for flow in result.get("codeFlows", []):
                for thread in flow["threadFlows"]:
                    require(thread["locations"], "a thread flow has locations")
                    for step in thread["locations"]:
                        location(step["location"])
            for fix in result.get("fixes", []):
                for change in fix["artifactChanges"]:
                    require(change["artifactLocation"]["uri"], "fix")
                    require(all("deletedRegion" in one for one in change["replacements"]), "deletedRegion")
            for suppression in result.get("suppressions", []):
                require(suppression["kind"] in ("inSource", "external"), "suppression.kind")


class Output(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "a.cu").write_text(SOURCE)

    def run_lint(self, *arguments, code, errors=False):
        done = subprocess.run([LINT, "--cuda-path=none", *arguments], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if errors else done.stdout

    def keys(self, *arguments, code=1):
        result = json.loads(self.run_lint("--format=json", *arguments, "a.cu", code=code))
        return sorted((one["location"]["line"], one["key"]) for one in result["findings"] if one["suppressed"] is None)

    def test_a_file_that_does_not_parse_is_no_clean_file(self):
        (self.path / "include").mkdir()
        (self.path / "include/size.h").write_text("constexpr int size = SIZE;\n")
        (self.path / "b.cu").write_text('#include "size.h"\n__global__ void b(int *p) { p[0] = size; }\n')

        def lint(*arguments):
            return subprocess.run([LINT, "--cuda-path=none", *arguments], cwd=self.path, capture_output=True, text=True)

        done = lint("b.cu")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("b.cu: error: 2 parse errors, the first: 'size.h' file not found", done.stderr)
        self.assertIn("heddle lint b.cu -- -Iinclude", done.stderr)
        self.assertIn("heddle lint -p build", done.stderr)
        for flags in (["--", "-Iinclude", "-DSIZE=4"], ["-Iinclude", "-DSIZE=4"], ["-I", "include", "-D", "SIZE=4"]):
            options = flags if flags[0] != "--" else []
            done = lint(*options, "b.cu", *(flags if not options else []))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # What was found is told all the same, and the log says that it is not complete.
        (self.path / "c.cu").write_text(SOURCE + "unknown_type x;\n")
        done = lint("--format=sarif", "c.cu")
        self.assertEqual(done.returncode, 2)
        run = json.loads(done.stdout)["runs"][0]
        self.assertTrue(run["results"])
        self.assertFalse(run["invocations"][0]["executionSuccessful"])

    def test_a_crash_of_clang_is_an_error_of_one_file(self):
        (self.path / "b.cu").write_text("__global__ void b(int *p) { p[0] = 1; }\n#pragma clang __debug crash\n")
        done = subprocess.run([LINT, "--cuda-path=none", "-j2", "--format=json", "b.cu", "a.cu"], cwd=self.path,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("b.cu: error: 1 parse error, the first: Clang, which reads the file for Heddle, has crashed", done.stderr)
        self.assertEqual({pathlib.Path(one["location"]["file"]).name for one in json.loads(done.stdout)["findings"]}, {"a.cu"})

    def test_suppressions(self):
        region = "thread_synchronization_in_divergent_region"
        self.assertEqual(self.keys(), [(4, region), (9, "suppression_without_reason"), (9, region), (11, "unused_suppression")])

    def test_names_of_clang_tidy_in_suppressions(self):
        (self.path / "n.cu").write_text(
            "__global__ void k(int *p) {\n"
            "  if (threadIdx.x < 3) __syncthreads(); // NOLINT(heddle-cuda-1.14): one warp only\n"
            "  if (threadIdx.x < 4) __syncthreads(); /* NOLINT(heddle-*): one warp only */\n"
            "  if (threadIdx.x < 5) __syncthreads(); // NOLINT(cuda-1.*): one warp only\n"
            "  if (threadIdx.x < 6) __syncthreads(); // NOLINT(bugprone-*): of another tool\n"
            "  if (threadIdx.x < 7) __syncthreads(); // NOLINT(heddle-cuda-1.41): a slip\n"
            "  p[0] = 1; // NOLINT(heddle-*): nothing is here\n"
            "  p[1] = 1; // NOLINT(readability-*): of another tool\n"
            "}\n")
        result = json.loads(self.run_lint("--format=json", "n.cu", code=1))
        found = {(one["location"]["line"], one["key"]) for one in result["findings"] if one["suppressed"] is None}
        divergent = "thread_synchronization_in_divergent_region"
        self.assertEqual(found, {(5, divergent), (6, divergent), (6, "unused_suppression"), (7, "unused_suppression")})

    def test_stars_of_other_tools(self):
        (self.path / "n.cu").write_text(
            "__global__ void k(int *p) {\n"
            "  p[0] = 1;  // NOLINT(*)\n"
            "  if (threadIdx.x < 4) __syncthreads(); // NOLINT(*)\n"
            "  p[0] = 1;\n"
            "}\n")
        result = json.loads(self.run_lint("--format=json", "n.cu", code=1))
        found = {(one["location"]["line"], one["key"]) for one in result["findings"] if one["suppressed"] is None}
        self.assertEqual(found, {(3, "thread_synchronization_in_divergent_region"), (3, "suppression_without_reason")})

    def test_comments_in_headers(self):
        (self.path / "h.cuh").write_text(
            "#pragma once\n"
            "__device__ inline void step(int *p) {\n"
            "  if (threadIdx.x < LANES) __syncthreads(); // NOLINT(cuda-1.14): one warp only\n"
            "  p[0] = 1; // NOLINT(heddle-*): never needed\n"
            "}\n")
        for name, lanes in (("uses.cu", "p[1]"), ("idle.cu", "blockDim.x")):
            (self.path / name).write_text(f'#define LANES {lanes}\n#include "h.cuh"\n__global__ void k(int *p) {{ step(p); }}\n')

        def unused(*files):
            result = json.loads(self.run_lint("--format=json", *files, code=1))
            return {(pathlib.Path(one["location"]["file"]).name, one["location"]["line"]) for one in result["findings"]
                    if one["suppressed"] is None and one["key"] == "unused_suppression"}
        self.assertEqual(unused("uses.cu"), {("h.cuh", 4)})
        self.assertEqual(unused("idle.cu"), {("h.cuh", 3), ("h.cuh", 4)})
        self.assertEqual(unused("idle.cu", "uses.cu"), {("h.cuh", 4)})

    def test_sarif(self):
        log = json.loads(self.run_lint("--format=sarif", "a.cu", code=1))
        validate_sarif(log)
        results = log["runs"][0]["results"]
        self.assertEqual(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a.cu")
        self.assertTrue(any("suppressions" in one for one in results))
        self.assertTrue(any("fixes" in one for one in results))
        self.assertTrue(all("codeFlows" in one for one in results if one["properties"]["rule"] == "CUDA-1.14"))

    def test_sarif_schema(self):
        """The official schema: itself, where HEDDLE_SARIF_SCHEMA names it, or the model that the package pydantic-sarif
        generates from it (it refuses properties that the schema does not have)."""
        log = json.loads(self.run_lint("--format=sarif", "a.cu", code=1))
        if schema := os.environ.get("HEDDLE_SARIF_SCHEMA"):
            import jsonschema
            jsonschema.validate(log, json.loads(pathlib.Path(schema).read_text()))
            return
        try:
            from pydantic_sarif import model
        except ImportError:
            self.skipTest("neither HEDDLE_SARIF_SCHEMA nor the package pydantic-sarif is there")
        model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(log)
        for run in log["runs"]:
            run["tool"]["driver"]["nothing"] = 1  # the check itself is checked
        with self.assertRaises(ValueError):
            model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(log)

    def test_fingerprint_survives_moving(self):
        def prints():
            log = json.loads(self.run_lint("--format=sarif", "a.cu", code=1))
            return [one.get("partialFingerprints") for one in log["runs"][0]["results"]]
        before = prints()
        (self.path / "a.cu").write_text("\n\n// moved\n" + SOURCE)
        self.assertEqual(prints(), before)

    def test_a_write_of_the_host_is_no_read(self):
        text = """__global__ void k(int *p);
int f() {
  int *p;
  cudaMallocManaged(&p, 4);
  k<<<1, 1>>>(p);
  HOST;
  return 0;
}
"""
        for host, does in (("*p = 1", "writes"), ("return *p", "reads")):
            (self.path / "host.cu").write_text(text.replace("HOST", host))
            said = self.run_lint("host.cu", code=1)
            self.assertIn(f"the host {does} this before it has waited", said)

    def test_fix_is_right(self):
        result = json.loads(self.run_lint("--format=json", "a.cu", code=1))
        text = SOURCE.encode()
        edits = [edit for one in result["findings"] for fix in one["fixes"] for edit in fix["edits"]]
        for edit in sorted(edits, key=lambda one: -one["offset"]):
            text = text[:edit["offset"]] + edit["text"].encode() + text[edit["offset"] + edit["length"]:]
        (self.path / "a.cu").write_bytes(text)
        self.assertNotIn("thread_synchronization_in_divergent_region", str(self.keys()))

    def test_fix(self):
        done = self.run_lint("--fix", "a.cu", code=1)
        self.assertNotIn("a.cu:4:", done)
        text = (self.path / "a.cu").read_text()
        self.assertIn("p[0] = 1;\n    \n  }\n  __syncthreads();", text)
        self.assertIn("if (threadIdx.x < 3) __syncthreads(); // NOLINT(cuda-1.14): one warp only", text)
        self.assertNotIn("thread_synchronization_in_divergent_region", str(self.keys()))

    def test_fix_of_an_exit(self):
        (self.path / "a.cu").write_text(EXIT)
        self.run_lint("--fix", "a.cu", code=0)
        self.assertEqual((self.path / "a.cu").read_text(), EXIT_FIXED)
        self.assertEqual(self.keys(code=0), [])
        for unsafe in (EXIT.replace("p[1] = 2;", "int v = p[2];"), EXIT.replace("p[1] = 2;", "for (;;) break;")):
            (self.path / "a.cu").write_text(unsafe)
            self.run_lint("--fix", "a.cu", code=1)
            self.assertEqual((self.path / "a.cu").read_text(), unsafe)

    @unittest.skipUnless(shutil.which(CLANG_TIDY), f"{CLANG_TIDY} is not here")
    def test_clang_tidy(self):
        module = pathlib.Path(LINT).parent.parent / "lib" / "heddle_clang_tidy.so"
        if not module.exists():
            self.skipTest("the module is not built")
        head = "".join(f"#define __{name}__ __attribute__(({name}))\n" for name in ("global", "device", "host"))
        head += "#include <__clang_cuda_builtin_vars.h>\n__device__ void __syncthreads();\n"
        (self.path / "a.cu").write_text(head + SOURCE)
        done = subprocess.run(
            [CLANG_TIDY, f"--load={module}", "--checks=-*,heddle-*", "a.cu", "--", "-xcuda", "--cuda-device-only",
             "--cuda-gpu-arch=sm_90", "-nocudalib", "-nocudainc"],
            cwd=self.path, capture_output=True, text=True)
        self.assertIn("a.cu:9:5: warning: '__syncthreads' is called in divergent code", done.stdout, done.stderr)
        self.assertIn("heddle-cuda-1.14", done.stdout)
        # Names of heddle lint, which clang-tidy does not know.
        self.assertNotIn("a.cu:12:", done.stdout)

    def test_options(self):
        (self.path / ".heddle-lint").write_text("rules:\n  CUDA-1.14:\n    disabled: true\n  suppression:\n    severity: error\n")
        self.assertNotIn("divergent", str(self.keys()))
        (self.path / ".heddle-lint").write_text("excludes:\n  - a.cu\n")
        self.assertNotIn("divergent", str(self.keys()))
        (self.path / ".heddle-lint").write_text("exclude_messages: ['not all threads']  # a comment\n")
        self.assertNotIn("divergent", str(self.keys()))
        (self.path / ".heddle-lint").write_text("nonsense: 1\n")
        self.run_lint("a.cu", code=2)
        os.remove(self.path / ".heddle-lint")
        # The project's own file has them, too.
        (self.path / ".heddle.yaml").write_text("lint:\n  rules: {CUDA-1.14: {disabled: true}}\n")
        self.assertNotIn("divergent", str(self.keys()))
        (self.path / ".heddle-lint").write_text("rules:\n  CUDA-1.14: {disabled: false}\n") # the nearer one
        self.assertIn("divergent", str(self.keys()))
        os.remove(self.path / ".heddle-lint")
        (self.path / ".heddle.yaml").write_text("lint:\n  severity: error\n  nonsense: 1\n")
        self.assertIn(".heddle.yaml:3: there is no option 'nonsense'", self.run_lint("a.cu", code=2, errors=True))
        (self.path / ".heddle.yaml").write_text("lint: [\n")
        self.run_lint("a.cu", code=2)
        os.remove(self.path / ".heddle.yaml")
        self.assertNotIn("divergent", str(self.keys("--set", "excludes=[\"*.cu\", b]")))
        self.assertNotIn("divergent", str(self.keys("--set", "excludes=*.cu")))
        self.assertNotIn("divergent", str(self.keys("--set", "CUDA-1.14.includes=other/*")))
        self.assertIn("(7, 'thread", str(self.keys("--set", "justification_checker=^JIRA-")))
        self.run_lint("--set", "CUDA-1.14.provider=other", "a.cu", code=2)

    def test_synchronization_functions(self):
        (self.path / "a.cu").write_text(
            "namespace my { __device__ void sync(); }\n"
            "__global__ void k(int *p) { if (threadIdx.x < 3) { my::sync(); p[0] = 1; } p[1] = 1; }\n")
        self.assertEqual(self.keys(code=0), [])
        self.assertEqual(len(self.keys("--set", "synchronization_functions=[my::sync]")), 1)

    def test_database(self):
        (self.path / "inc").mkdir()
        (self.path / "inc" / "limit.h").write_text("#define LIMIT threadIdx.x\n")
        (self.path / "b.cu").write_text(
            "#include \"limit.h\"\n__global__ void k(int *p) { if (LIMIT < N) { p[0] = 1; __syncthreads(); p[1] = 1; } }\n")
        command = "nvcc -ccbin g++ -Iinc -DN=3 --expt-relaxed-constexpr -gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC -rdc=true -x cu -c b.cu -o b.o"
        (self.path / "compile_commands.json").write_text(json.dumps([{"directory": str(self.path), "command": command, "file": "b.cu"}]))
        result = json.loads(self.run_lint("--format=json", "-p", ".", code=1))
        self.assertEqual(result["files"][0]["parse_errors"], 0, result["files"])
        self.assertEqual(len(result["findings"]), 1)

    def test_flags_as_bazel_and_cmake_write_them(self):
        for folder, name in (("quoted", "q.h"), ("system", "s.h"), ("after", "a.h"), ("host", "h.h")):
            (self.path / folder).mkdir()
            (self.path / folder / name).write_text("#pragma once\n")
        (self.path / "b.cu.cc").write_text(
            "#include \"q.h\"\n#include <s.h>\n#include <a.h>\n#include \"h.h\"\n#if FIRST != 1 || SECOND != 2 || __CUDA_ARCH__ != 1000\n"
            "#error flags\n#endif\n#ifndef __CUDA_ARCH_FEAT_SM100_ALL\n#error architecture\n#endif\n" + SOURCE)
        flags = ("-iquote quoted -isystem=system -idirafter after -Xcompiler=-DFIRST=1,-fPIC -Xcompiler -iquote -Xcompiler host "
                 "-DSECOND=2 --generate-code=arch=compute_90,code=[compute_90,sm_90] -gencode arch=compute_100a,code=sm_100a "
                 "-forward-unknown-to-host-compiler --std c++17 -MD -MT b.o -MF b.d -c b.cu.cc -o b.o")
        for compiler in ("nvcc -x cu", "clang++ -x cuda --cuda-gpu-arch=sm_100a"):
            command = f"{compiler} {flags}"
            (self.path / "compile_commands.json").write_text(
                json.dumps([{"directory": str(self.path), "command": command, "file": "b.cu.cc"}]))
            result = json.loads(self.run_lint("--format=json", "-p", ".", code=1))
            self.assertEqual(result["files"][0]["parse_errors"], 0, result["files"])

    def test_an_architecture_that_clang_does_not_know(self):
        (self.path / "n.cu").write_text("#if __CUDA_ARCH__ < 1000\n#error old\n#endif\n__global__ void k(int *p) { p[0] = 1; }\n")
        self.run_lint("n.cu", "--", "-arch=sm_199a", code=0)
        self.run_lint("n.cu", "--", "-arch=sm_90a", code=2)

    def test_extended_lambdas(self):
        (self.path / "a.cu").write_text(
            "#ifndef __CUDACC_EXTENDED_LAMBDA__\n#error no lambdas\n#endif\n"
            "constexpr int most(std::initializer_list<int> all) { return std::max(all); }\n"
            "template <class F> __global__ void call(F f) { f(); }\n"
            "void run(int *p) { call<<<1, 32>>>([=] __device__ { p[threadIdx.x] = most({1, 2}); }); }\n")
        result = json.loads(self.run_lint("--format=json", "a.cu", "--", "--extended-lambda", code=0))
        self.assertEqual(result["files"][0]["parse_errors"], 0, result["files"])

    def test_kernels_that_launch_kernels_need_a_flag(self):
        (self.path / "a.cu").write_text("__global__ void b() {}\n__global__ void a() { b<<<1, 1>>>(); }\n")
        for flag in ([], ["-rdc=true"], ["-dc"], ["--relocatable-device-code=true"]):
            done = subprocess.run([LINT, "a.cu", "--", *flag], cwd=self.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0 if flag else 2, done.stderr)
            said = "a.cu:2: a kernel is launched by device code: nvcc needs -rdc=true for that" in done.stderr
            self.assertEqual(said, not flag, done.stderr)

    def test_macros_of_one_letter_do_not_reach_headers_that_only_clang_reads(self):
        (self.path / "n.cu").write_text("#include <cuda_runtime.h>\n" # with cuda.h nvcc fails, too
                                        "#if N != 1024 || X != 1 || !defined(Y) || !defined(__NVCC__)\n#error macros\n#endif\n"
                                        "__global__ void a(int *p) { p[N] = X; }\n")
        for toolkit in ([], ["--cuda-path=none"]):
            done = subprocess.run([LINT, *toolkit, "n.cu", "--", "-DN=1024", "-D", "X=1", "-DY"] if not toolkit else
                                  [LINT, *toolkit, "n.cu", "--", "-DN=1024", "-DX=1", "-DY", "-DCUDA_VERSION=1"],
                                  cwd=self.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_errors_do_not_stop(self):
        (self.path / "a.cu").write_text("#include <no/such/file.h>\n" + SOURCE.replace("p[1] = 3;", "p[1] = undeclared(3);"))
        result = json.loads(self.run_lint("--format=json", "a.cu", code=2))
        self.assertGreaterEqual(result["files"][0]["parse_errors"], 2)
        self.assertIn(5, [one["location"]["line"] for one in result["findings"]])

    def test_jobs_change_nothing(self):
        for name in "bcd":
            (self.path / f"{name}.cu").write_text(SOURCE)
        files = [f"{name}.cu" for name in "abcd"]
        self.assertEqual(self.run_lint(*files, code=1), self.run_lint("-j", "4", *files, code=1))

    def test_usage(self):
        self.run_lint(code=2)
        self.run_lint("missing.cu", code=2)
        self.run_lint(".", code=2)
        self.run_lint("--arch=sm_9999", "a.cu", code=2)
        self.run_lint("--cuda-path=/nowhere", "a.cu", code=2)
        self.run_lint("-p", "nowhere", code=2)
        (self.path / "compile_commands.json").write_text("[]")
        self.run_lint("-p", ".", code=2)
        (self.path / ".heddle-lint").write_text("rules:\n  CUDA-9.99:\n    disabled: true\n")
        self.run_lint("a.cu", code=2)
        (self.path / ".heddle-lint").unlink()
        (self.path / ".heddle-lint").mkdir()
        self.run_lint("a.cu", code=2)
        (self.path / ".heddle-lint").rmdir()
        self.run_lint("--explain", "nonsense", code=2)
        rules = self.run_lint("--list-rules", code=0)
        self.assertIn("CUDA-1.14", rules)
        self.assertEqual(len({re.match(r"\S+ +\S+ +", line).end() for line in rules.splitlines()}), 1, rules)  # in columns
        page = self.run_lint("--explain", "cuda-1.14", code=0)
        self.assertIn("bypassed", page)
        self.assertIn("What may be wrong", page)


if __name__ == "__main__":
    LINT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
