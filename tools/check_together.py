#!/usr/bin/env python3
"""Fails where two files that are compiled as one (HEDDLE_TOGETHER) give the same name to something of their own.

Developers compile each file alone and would not notice. Which ten files of a library, or of a test's program, go
together follows from the order of its SOURCES, as CMake takes them; files under ALONE stay alone. Constants and types
are looked at, and types that two headers of a layer define. Functions may share a name when their parameters differ, so the compiler judges those.

    check_together.py [ROOT]     ctest runs it as static.together
"""
import collections
import pathlib
import re
import sys

TOGETHER = 10  # UNITY_BUILD_BATCH_SIZE of cmake/heddle.cmake
CALL = re.compile(r"(heddle_library|add_library|heddle_unit_test|add_executable)\((.*?)\)", re.S)
APART = re.compile(r"heddle_together\((\S+)(.*?)\)", re.S)
WORDS = {"SOURCES", "DEPENDS", "HEADERS", "ALONE", "QUICK", "BUSY"}
FORM = {"STATIC": "SOURCES", "SHARED": "other", "MODULE": "other", "INTERFACE": "other"}  # of add_library
CONSTANT = re.compile(r"(?:static |inline )?(?:constexpr|const|constinit|thread_local)\b[^(=;{]*?\b(\w+)(?:\[\w*\])?\s*[={;]")
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum|union) (\w+)\b(?!.*;)|using (\w+) =")

IN_ANOTHERS_PLACE = {"region_exec.h"}  # one header includes it instead of its own class, by a macro
DEFINED = re.compile(r"(?:struct|class) (\w+)(?: final)?(?: :[^;]*)? \{$")


def arguments(text):
    """The words of a call of heddle_library, by keyword."""
    found, keyword = collections.defaultdict(list), "name"
    for word in re.sub(r"#[^\n]*", "", text).split():
        if word in WORDS or word in FORM:
            keyword = FORM.get(word, word)
        else:
            found[keyword].append(word)
    return found


def own_names(text):
    """Constants and types at the outermost level of the file's unnamed namespaces, each with what it means if it is
    another name of a type: two files may agree on that."""
    inside = False
    for line in text.splitlines():
        if line == "namespace {":
            inside = True
        elif line.startswith("} // namespace"):
            inside = False
        elif inside and (match := CONSTANT.match(line) or TYPE.match(line)):
            yield (match[1], None) if match[1] else (match[2], line)


def common_types(root):
    """Types of namespace heddle itself, with their headers. Those of an inner namespace would be ambiguous, which the compiler sees."""
    found = {}
    for path in sorted((root / "src").rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        if "\nnamespace heddle {\n" in text:
            found.update((match[1] or match[2], path) for match in map(TYPE.match, text.splitlines()) if match)
    return found


def layer_types(root):
    """Types that headers define in a layer's namespace: (namespace, name), header."""
    for path in sorted((root / "src").rglob("*.h")):
        if path.name in IN_ANOTHERS_PLACE:
            continue
        namespace = None
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"namespace (heddle::\w+) \{$", line):
                namespace = match[1]
            elif line.startswith("} // namespace"):
                namespace = None
            elif namespace and (match := DEFINED.match(line)):
                yield (namespace, match[1]), path


def defined_twice(root):
    """Where no file includes both headers, nobody notices: a program has the functions of one of the two classes for both."""
    seen = {}
    for name, path in layer_types(root):
        other = seen.setdefault(name, path)
        if other != path:
            yield f"{path}: error: '{'::'.join(name)}' is defined in {other}, too"


def hidden(path, types):
    """A header that a later file includes would mean the type of this file, and a class would have two layouts; or the
    name of a type of this file's layer would mean two."""
    parts = path.parts
    layer = "heddle::" + parts[parts.index("src") + 1] if "src" in parts else None
    for name, _ in own_names(path.read_text(encoding="utf-8")):
        if known := types.get(name) or types.get((layer, name)):
            yield f"{path}: error: '{name}' hides that of {known.name} in files that are compiled with this one"


def clashes(folder, text, types):
    apart = {name: alone.split() for name, alone in APART.findall(text)}
    for kind, words in CALL.findall(text):
        given = arguments(words)
        name, *listed = given["name"] or [""]
        if kind == "add_executable" and name not in apart: # its files are compiled one by one
            continue
        alone = {*given["ALONE"], *apart.get(name, ())}
        sources = given["SOURCES"] + (listed if kind == "add_executable" else [])
        together = [s for s in sources if s.endswith(".cpp") and s not in alone]
        for first in range(0, len(together), TOGETHER):
            seen, some = {}, together[first:first + TOGETHER]
            for source in some:
                path = folder / source
                if path.is_file() and len(some) > 1:
                    yield from hidden(path, types)
                for name, alias in own_names(path.read_text(encoding="utf-8")) if path.is_file() else ():
                    other, meaning = seen.setdefault(name, (source, alias))
                    if other != source and (alias is None or alias != meaning):
                        yield f"{path}: error: '{name}' is defined in {other}, too; both are compiled as one file"


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else ".")
    types = common_types(root) | dict(layer_types(root))
    problems = [problem for folder in ("src", "tests") for path in sorted((root / folder).rglob("CMakeLists.txt"))
                for problem in clashes(path.parent, path.read_text(encoding="utf-8"), types)]
    problems += defined_twice(root)
    print("\n".join(problems) or "check_together: ok")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
