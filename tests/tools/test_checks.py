"""The checks of the sources are checked: each must accept a small good tree and refuse each kind of bad one."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
sys.dont_write_bytecode = True

import check_files  # noqa: E402
import check_layers  # noqa: E402
import check_rules  # noqa: E402
import check_together  # noqa: E402
import class_sizes  # noqa: E402
import summarise_tests  # noqa: E402
import tests as costs  # noqa: E402
import wrap_prose  # noqa: E402


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def outcome(self, check, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = check.main(["check", *map(str, arguments)])
        return status, out.getvalue()


class Layers(Tree):
    def test_downwards_is_allowed(self):
        self.write("machine/a.cpp", '#include "isa/op.h"\n#include <fmt/format.h>\n#include <vector>\n')
        self.assertEqual(self.outcome(check_layers, self.root)[0], 0)

    def test_upwards_and_foreign_headers_are_refused(self):
        for line, reason in [
            ('#include "machine/world.h"', "isa/ may not include machine/"),
            ("#include <nlohmann/json.hpp>", "may not include nlohmann/"),
            ("#include <cuda_runtime.h>", "CUDA's headers"),
            ("#include <cuda/atomic>", "CUDA's headers"),
        ]:
            self.write("isa/a.cpp", f"// A file.\n{line}\n")
            status, text = self.outcome(check_layers, self.root)
            self.assertEqual(status, 1, line)
            self.assertIn("a.cpp:2: error", text)
            self.assertIn(reason, text)

    def test_unknown_folders_are_refused(self):
        self.write("misc/a.cpp", "// A file.\n")
        self.assertIn("not a layer", self.outcome(check_layers, self.root)[1])


class Together(Tree):
    def setUp(self):
        super().setUp()
        self.write("src/a/CMakeLists.txt", "heddle_library(a\n  SOURCES one.cpp two.cpp # both\n  ALONE three.cpp)\n")

    def names(self, first, second, where="two"):
        for name, line in (("one", first), (where, second)):
            self.write(f"src/a/{name}.cpp", f"namespace {{\n{line}\n}} // namespace\n")
        return self.outcome(check_together, self.root)

    def test_one_name_for_two_things_of_files_that_are_compiled_as_one(self):
        for first, second in [("constexpr int none = 1;", "constexpr unsigned none = ~0U;"),
                              ("struct Kind {", "enum class Kind : int {"),
                              ("using Kind = int;", "using Kind = long;")]:
            status, text = self.names(first, second)
            self.assertEqual(status, 1, first)
            self.assertIn("is defined in one.cpp, too", text)

    def test_what_may_be_the_same(self):
        self.assertEqual(self.names("using Kind = int;", "using Kind = int;")[0], 0)
        self.assertEqual(self.names("constexpr int none = 1;", "constexpr int nothing = 1;")[0], 0)
        self.assertEqual(self.names("constexpr int none = 1;", "  constexpr int none = 1;")[0], 0)  # in a function

    def test_files_that_stay_alone(self):
        self.assertEqual(self.names("constexpr int none = 1;", "constexpr int none = 2;", "three")[0], 0)

    def test_a_type_that_hides_one_of_all_layers(self):
        self.write("src/base/random.h", "// A file.\nnamespace heddle {\nclass Random {\n};\n} // namespace heddle\n")
        self.assertIn("'Random' hides that of random.h", self.names("struct Random {", "struct Other {")[1])
        self.assertEqual(self.names("struct Mine {", "struct Other {")[0], 0)
        self.write("src/base/random.h", "// A file.\nnamespace heddle::base {\nclass Random {\n};\n} // namespace heddle::base\n")
        self.assertEqual(self.names("struct Random {", "struct Other {")[0], 0)

    def test_a_type_of_a_file_and_one_of_its_layer(self):
        for layer, status in [("a", 1), ("b", 0)]:
            self.write("src/a/alike.h", f"// A file.\nnamespace heddle::{layer} {{\nclass Alike {{\n}};\n}} // namespace heddle::{layer}\n")
            self.assertEqual(self.names("template <class T> class Alike {", "struct Other {")[0], status, layer)

    def test_two_classes_of_one_layer(self):
        for name, status in [("Other", 0), ("Search", 1)]:
            self.write("src/a/one.h", "// A file.\nnamespace heddle::a {\nstruct Search {\n};\n} // namespace heddle::a\n")
            self.write("src/a/two.h", f"// A file.\nnamespace heddle::a {{\nclass {name} : public Base {{\n}};\n}} // namespace heddle::a\n")
            self.assertEqual(self.outcome(check_together, self.root)[0], status, name)

    def test_programs_of_tests(self):
        clash = "constexpr int none = 1;", "constexpr int none = 2;"
        for text, status in [("heddle_unit_test(a SOURCES one.cpp two.cpp DEPENDS b)", 1),
                             ("heddle_unit_test(a SOURCES one.cpp two.cpp DEPENDS b ALONE two.cpp)", 0),
                             ("add_executable(a one.cpp two.cpp)", 0),
                             ("add_executable(a one.cpp two.cpp)\nheddle_together(a)", 1),
                             ("add_executable(a one.cpp two.cpp)\nheddle_together(a two.cpp)", 0)]:
            with self.subTest(text):
                self.write("src/a/CMakeLists.txt", text + "\n")
                self.assertEqual(self.names(*clash)[0], status)


class Rules(Tree):
    def state(self, spec="### [AB-1] a sentence\n", row='HEDDLE_RULE("AB-1", "a sentence")\n', source="// [AB-1]\n"):
        self.write("spec/x.md", spec)
        self.write("src/report/rule.def", row)
        self.write("src/x.cpp", source)
        return self.outcome(check_rules, self.root)

    def test_stated_and_cited(self):
        self.assertEqual(self.state(), (0, "rules: 1 stated, 1 cited, 0 planned\n"))
        self.assertEqual(self.state(source='f("see [AB-1]");\n')[0], 0)

    def test_a_subscript_is_not_a_citation(self):
        self.assertIn("no test or source cites [AB-1]", self.state(source="int x = a[AB-1]; // a[AB-1]\n")[1])

    def test_citing_what_does_not_exist(self):
        self.assertIn("src/x.cpp:2: error: [AB-2] is cited", self.state(source="// [AB-1]\n// [AB-2]\n")[1])

    def test_usage_texts_are_not_citations(self):
        self.assertEqual(self.state(source='// [AB-1]\nf("tool [OPTIONS]");\n')[0], 0)

    def test_uncited_unless_planned(self):
        self.assertIn("no test or source cites [AB-1]", self.state(source="// nothing\n")[1])
        self.assertEqual(self.state(spec="### [AB-1] a sentence (planned)\n", source="// nothing\n")[0], 0)

    def test_stated_twice(self):
        self.assertIn("stated twice", self.state(spec="### [AB-1] a sentence\n### [AB-1] a sentence\n")[1])

    def test_the_table_and_the_text_agree(self):
        self.assertIn("reads differently", self.state(row='HEDDLE_RULE("AB-1", "another sentence")\n')[1])
        self.assertIn("is not in src/report/rule.def", self.state(row="")[1])
        more = 'HEDDLE_RULE("AB-1", "a sentence")\nHEDDLE_RULE("AB-9", "x")\n'
        self.assertIn("states no rule [AB-9]", self.state(row=more)[1])


class Files(Tree):
    def test_good(self):
        self.write("src/a.cpp", "// What it does.\nint x;\n")
        self.assertEqual(self.outcome(check_files, self.root)[0], 0)

    def test_each_kind_of_bad(self):
        for text, reason in [
            ("int x;\n", "opens with a comment"),
            ("// Fine.\n" + "int x;\n" * 900, "split it"),
            ("// Fine.\n#include <regex>\n", "takes long to compile"),
            ('// Fine.\nauto p = "/' + 'root/x";\n', "path of one machine"),
        ]:
            self.write("src/a.cpp", text)
            status, out = self.outcome(check_files, self.root)
            self.assertEqual(status, 1)
            self.assertIn(reason, out)

    def test_prose(self):
        """Long lines are found, and wrapping them leaves words, tables and code as they are."""
        long = "word " * 30
        table, code = f"| {long}|\n", f"```\n{long}\n```\n"
        for text in (f"{long}\n", f"- {long}\n", f"  {long}\n\n{table}", f"{code}{long}\n"):
            self.write("a.md", text)
            status, out = self.outcome(check_files, self.root)
            self.assertEqual(status, 1, text)
            self.assertIn("a.md:", out)
            wrapped = wrap_prose.wrap(text)
            self.assertEqual(wrapped.split(), text.split())
            self.assertEqual(wrap_prose.wrap(wrapped), wrapped)
            self.write("a.md", wrapped)
            self.assertEqual(self.outcome(check_files, self.root)[0], 0, wrapped)
        for text in (table, code, f"# {long}\n", f"Text:\n\n    {long}\n", f"> {long}\n", "x" * 130 + "\n"):
            self.write("a.md", text)
            self.assertEqual(self.outcome(check_files, self.root)[0], 0, text)
            self.assertEqual(wrap_prose.wrap(text), text)
        self.write("a.md", code + "Text.\n```\n")
        self.assertIn("has no end", self.outcome(check_files, self.root)[1])
        for text in (long[:118] + "- b\n", long[:115] + "12. b\n", long[:118] + "# b\n"):  # no new list or heading
            self.assertNotRegex(wrap_prose.wrap(text), r"\n(-|12\.|#) ")
        entry = wrap_prose.wrap("Off: `no-a`.\nMutants: " + "`a/b`, " * 25 + "\n")
        self.assertRegex(entry, r"^Off: `no-a`\.\nMutants: (`a/b`, ?)+\n`a/b`,")


class Sizes(Tree):
    """class_sizes.py, and what check_files.py makes of it."""

    def measure(self, text, more=""):
        classes, functions = class_sizes.sizes([("src/a/x.h", text), ("src/a/x.cpp", more)])
        return {name: (size.lines, size.members, size.functions) for (_, name), size in classes.items()}, functions

    def test_members_of_inner_structs_count(self):
        classes, _ = self.measure("class A : public B<int> {\npublic:\n  explicit A(int x) : x_(x) {}\n  void f() const;\n\nprivate:\n"
                                  "  struct In {\n    std::map<int, int> a, b;\n    int c = 1;\n  };\n  enum class Kind { One, Two };\n  using T = int;\n"
                                  "  static constexpr int limit = 1'000;\n  std::function<int(int)> x_{};\n  std::array<In, 2> y_ = {};\n};\n")
        self.assertEqual(classes, {"A": (16, 5, 2)})

    def test_functions_of_another_file_count(self):
        classes, functions = self.measure("class A {\n  void f();\n};\n", "void A::f() {\n  if (x) {\n    g([&] { return '{'; });\n  }\n}\n")
        self.assertEqual(classes, {"A": (8, 0, 1)})
        self.assertEqual([(line, lines) for _, line, _, lines in functions], [(1, 5)])

    def test_what_is_no_class(self):
        self.assertEqual(self.measure("class A;\nenum class B { C };\ntemplate <class T> T f(T x) {\n  return x;\n}\n")[0], {})

    def outcome_with(self, members, listed):
        self.write("src/a/x.h", "// What.\nclass A {\n" + "  int x_;\n" * members + "};\n")
        self.write("tools/larger.txt", listed)
        return self.outcome(check_files, self.root)

    def test_limits_and_the_list(self):
        self.assertEqual(self.outcome_with(20, "")[0], 0)
        self.assertIn("split it", self.outcome_with(21, "")[1])
        self.assertEqual(self.outcome_with(21, "class src/a A 0 21 0\n")[0], 0)
        self.assertIn("split it", self.outcome_with(22, "class src/a A 0 21 0\n")[1])
        self.assertIn("no longer large", self.outcome_with(20, "class src/a A 0 21 0\n")[1])

    def test_numbers_fall(self):
        self.outcome_with(21, "# Why.\nclass src/a A 0 30 0\n")
        self.assertEqual(self.outcome(check_files, self.root, "--lower")[0], 0)
        self.assertEqual((self.root / "tools/larger.txt").read_text(), "# Why.\nclass src/a A 0 21 0\n")
        found = {("class", "src/a", "A"): ((0, 25, 0), "")}
        (problem,) = check_files.too_large(found, {("class", "src/a", "A"): (0, 25, 0)}, {("class", "src/a", "A"): (0, 21, 0)})
        self.assertIn("may only fall", problem)

    def test_a_mutable_and_a_const_cast_have_a_reason(self):
        for line in ("mutable int a_;", "auto& b = const_cast<int&>(a);"):
            self.assertEqual(list(check_files.without_reason(["int c;", line])), [2], line)
            self.assertEqual(list(check_files.without_reason(["int c;", line + " // why"])), [], line)
            self.assertEqual(list(check_files.without_reason(["// why", line])), [], line)
        self.assertEqual(list(check_files.without_reason(["// why", "int& b =", "const_cast<int&>(a);"])), [])
        self.assertEqual(list(check_files.without_reason(["int& b =", "const_cast<int&>(a);"])), [2])
        for line in ("mutable std::mutex m_;", "mutable std::recursive_mutex m_;", "mutable std::atomic<int> a_;", "f([a = 1]() mutable { ++a; });",
                     "g(const_cast<const void*>(p));", "return const_cast<A*>(this)->find(x);", "std::atomic_ref(const_cast<int&>(x)).load();",
                     "// not mutable", "immutable();"):
            self.assertEqual(list(check_files.without_reason(["int c;", line])), [], line)
        self.write("src/a/x.cpp", "// What.\n\nauto* p = const_cast<int*>(q);\n")
        self.assertIn("src/a/x.cpp:3: error: why mutable, or a const_cast?", self.outcome(check_files, self.root)[1])
        self.write("src/a/x.cpp", "// What.\n")
        self.write("src/jit/x.cpp", "// What.\n\nauto* p = const_cast<int*>(q);\n")
        self.assertEqual(self.outcome(check_files, self.root)[0], 0)

    def test_long_functions(self):
        self.write("src/a/x.cpp", "// What.\nint f() {\n" + "  g();\n" * 100 + "}\n")
        self.assertIn("function f has 102 lines", self.outcome(check_files, self.root)[1])


class Summary(Tree):
    def summarise(self, entries, gtest=None):
        cases = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in entries)
        self.write("ctest.xml", f"<testsuite>{cases}</testsuite>")
        if gtest:
            self.write("gtest/unit_x.xml", gtest)
        status, out = self.outcome(summarise_tests, self.root)
        return status, out.splitlines()[-1]

    def test_counts_cases_inside_binaries(self):
        inside = ('<testsuites><testsuite><testcase name="a"/><testcase name="b"/>'
                  '<testcase name="c" status="notrun"/></testsuite></testsuites>')
        self.assertEqual(self.summarise([("unit.x", "run"), ("static.y", "run")], inside),
                         (0, "3 tests passed, 0 failed, 1 skipped"))

    def test_failures(self):
        self.assertEqual(self.summarise([("a", "run"), ("b", "fail")]), (1, "1 tests passed, 1 failed, 0 skipped"))

    def test_a_crashed_binary_is_a_failure(self):
        self.assertEqual(self.summarise([("unit.x", "fail"), ("a", "run")]), (1, "0 tests passed, 1 failed, 0 skipped"))

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.summarise([])[0], 1)


class Costs(Tree):
    """bench/tests.py."""

    def entries(self, *entries):
        """(name, seconds by the clock, lines of the shell's `times` or None)."""
        self.write("ctest.xml", "<testsuite>" + "".join(
            f'<testcase name="{name}" time="{wall}" status="run"/>' for name, wall, _ in entries) + "</testsuite>")
        for name, _, times in entries:
            if times:
                self.write(f"cost/{name.replace('/', ':')}", times)
        return costs.read_costs(self.root)

    def test_processor_time_of_children(self):
        (cost,) = self.entries(("check.idioms/locks", 70, "0m0.500s 0m0.000s\n1m2.250s 0m0.250s\n"))
        self.assertEqual((cost.counted, cost.mark), (63.0, " "))

    def test_the_clock_where_nothing_else_is_known(self):
        (cost,) = self.entries(("a", 70, None))
        self.assertEqual((cost.counted, cost.mark), (70, "~"))

    def test_groups(self):
        for name, group in [("check.idioms/locks", "check.idioms"), ("check.axb", "check"), ("checks.a", None), ("check", "check")]:
            self.assertEqual(costs.group_of(name, ["check", "check.idioms"]), group)

    def test_above_the_budget(self):
        entries = self.entries(("run.a", 40, None), ("run.b", 40, None), ("unit.x", 1, None), ("new", 1, None))
        lines, wrong = costs.table(entries, {"run": 1.0, "unit": 1.0})
        self.assertIn("1.33~", lines[1])
        self.assertEqual(sorted(text.split(":")[0] for text in wrong), ["run", "tests/BUDGET.md has no group for new"])
        self.assertEqual(costs.table(entries, {"run": 1.4, "unit": 1.0, "new": 1.0})[1], [])

    def test_a_budget_fails_only_where_asked(self):
        self.entries(("run.a", 1e6, None))
        self.assertEqual(self.outcome(summarise_tests, self.root)[0], 0)
        status, out = self.outcome(summarise_tests, self.root, "--budget")
        self.assertEqual(status, 1)
        self.assertIn("failed: run: ", out)

    def test_the_table_is_read(self):
        budget = costs.read_budget(costs.ROOT / "tests" / "BUDGET.md")
        self.assertGreater(len(budget), 20)
        self.assertIn("check.idioms", budget)


if __name__ == "__main__":
    unittest.main()
