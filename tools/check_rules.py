#!/usr/bin/env python3
"""Fails when a rule is cited that spec/ does not state, or stated and cited by no test or source.

    check_rules.py [ROOT]        ctest runs it as static.rules

A rule is stated by a heading in spec/*.md:      ### [CLUSTER] One step obliges the whole cluster
A rule that nothing relies on yet says so:       ### [SC.1] … (planned)
A citation is an id in brackets in a comment or in a string literal: // [CLUSTER]  "[BAR-2]"
Citations in spec/, in documents and in the table of findings do not count as proof: they name the
rule, they do not apply it.
"""
import pathlib
import re
import sys

HEADING = re.compile(r"^#{2,4} \[([A-Z0-9.-]+)\](.*)$")
IDENTIFIER = re.compile(r"(?<![\w\])])\[([A-Z][A-Z0-9]{1,}(?:[.-][A-Z0-9]+)*)\]")
# Text that people write for people: comments and string literals.
SPOKEN = {
    "c": re.compile(r'//.*|/\*.*?\*/|^\s*\*.*|"(?:[^"\\]|\\.)*"'),
    "python": re.compile(r'#.*|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''),
    "text": re.compile(r".*"),
}
LANGUAGE = {
    ".h": "c", ".cpp": "c", ".def": "c", ".cu": "c", ".cuh": "c", ".ptx": "c",
    ".py": "python", ".stderr": "text", ".expected": "text",
}
FOLDERS = ["src", "tests", "examples", "bench"]
NOT_PROOF = {"src/report/finding.def"}


def stated_rules(root):
    """id -> (place, planned)"""
    rules, problems = {}, []
    for path in sorted((root / "spec").glob("*.md")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not (match := HEADING.match(line)):
                continue
            place = f"{path.relative_to(root)}:{number}"
            if match[1] in rules:
                problems.append(f"{place}: error: rule [{match[1]}] is stated twice ({rules[match[1]][0]})")
            rules[match[1]] = (place, "(planned)" in match[2])
    return rules, problems


def citations(root):
    """Yields (id, path, line number)."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            language = LANGUAGE.get(path.suffix)
            if not language or not path.is_file():
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                if "[" not in line:
                    continue
                for spoken in SPOKEN[language].findall(line):
                    for match in IDENTIFIER.finditer(spoken):
                        yield match[1], path.relative_to(root).as_posix(), number


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else ".")
    rules, problems = stated_rules(root)
    cited = set()
    for identifier, path, number in citations(root):
        if identifier not in rules:
            problems.append(f"{path}:{number}: error: [{identifier}] is cited, but spec/ states no such rule")
        elif path not in NOT_PROOF:
            cited.add(identifier)
    planned = 0
    for identifier, (place, is_planned) in rules.items():
        planned += is_planned
        if identifier not in cited and not is_planned:
            problems.append(f"{place}: error: no test or source cites [{identifier}]")
        if identifier in cited and is_planned:
            print(f"{place}: note: [{identifier}] is cited now; remove '(planned)'")
    print("\n".join(problems) or f"rules: {len(rules)} stated, {len(cited)} cited, {planned} planned")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
