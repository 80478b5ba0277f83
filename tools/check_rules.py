#!/usr/bin/env python3
"""Fails when a rule is cited that spec/ does not state, or stated and cited by no test or source.

    check_rules.py [--uncited-ok] [ROOT]        ctest runs it as static.rules

A reduction of the search is a claim about Heddle, stated in spec/reductions.md as [RED-…]. It has no row in
the table, since no diagnostic cites it. It must be cited by a source or test, and say which option switches
it off ("Off: `no-…`") and which mutants of src/reduce/mutant.h the enumeration has to notice ("Mutants: `…`",
two of them at least), or why it has none ("Not enumerated: …"). The same holds for what ranks of one search
leave to each other, spec/ranks.md, [RANK-…], with the mutants of src/explore/ranks/rank_mutant.h, or the reason why it has none.

A rule is stated by a heading in spec/*.md:      ### [CLUSTER] one step obliges the whole cluster
and by a row of src/report/rule.def in the same words, which is what users read in a diagnostic.
A rule that nothing relies on yet says so:       ### [FENCE-1] … (planned)
A citation is an id in brackets in a comment or in a string literal: // [CLUSTER]  "[BAR-2]"
Citations in spec/, in documents and in the table of findings do not count as proof: they name the
rule, they do not apply it.
"""
import difflib
import pathlib
import re
import sys

MUTANTS = re.compile(r"^Mutants: (.*(?:\n`.*)*)$", re.M)  # may go on in further lines
HEADING = re.compile(r"^### \[([A-Z0-9.-]+)\] (.*?)( \(planned\))?$")
ROW = re.compile(r'^HEDDLE_RULE\("([^"]*)", "([^"]*)"\)$')
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
NOT_PROOF = {"src/report/finding.def", "src/report/rule.def"}


def stated_rules(root):
    """id -> (place, sentence, planned)"""
    rules, problems = {}, []
    for path in sorted((root / "spec").glob("*.md")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not (match := HEADING.match(line)):
                continue
            place = f"{path.relative_to(root)}:{number}"
            if match[1] in rules:
                problems.append(f"{place}: error: rule [{match[1]}] is stated twice ({rules[match[1]][0]})")
            rules[match[1]] = (place, match[2], bool(match[3]))
    return rules, problems


def compare_with_table(root, rules):
    table = root / "src/report/rule.def"
    rows = {}
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
        if match := ROW.match(line):
            rows[match[1]] = (f"{table.relative_to(root)}:{number}", match[2])
    problems = [f"{place}: error: spec/ states no rule [{identifier}]"
                for identifier, (place, _) in rows.items() if identifier not in rules]
    for identifier, (place, sentence, _) in rules.items():
        if identifier.startswith(("RED-", "RANK-")):
            continue
        if identifier not in rows:
            problems.append(f"{place}: error: rule [{identifier}] is not in {table.relative_to(root)}")
        elif rows[identifier][1] != sentence:
            problems.append(f"{rows[identifier][0]}: error: [{identifier}] reads differently at {place}")
    return problems


def check_reductions(root, rules):
    """Every entry of spec/reductions.md has a switch that exists, and two mutants or a reason."""
    page = root / "spec/reductions.md"
    if not page.exists():
        return []
    switches = set(re.findall(r'\{"(no-[a-z-]+)"', (root / "src/explore/options.cpp").read_text(encoding="utf-8")))
    mutants = re.findall(r'\{Mutant::\w+, "([a-z-]+)", "([a-z-]+)"\}', (root / "src/reduce/mutant.h").read_text(encoding="utf-8"))
    known = {f"{reduction}/{name}" for reduction, name in mutants}
    conditions = root / "src/analysis/clock_condition.def"  # a mutant each
    if conditions.exists():
        known |= {f"eager/{name}" for name in re.findall(r'^CLOCK_CONDITION\(\w+, "([a-z-]+)"\)', conditions.read_text(encoding="utf-8"), re.M)}
    problems = []
    entries_of = {}  # mutant -> entries that name it
    entries = re.split(r"^(?=### \[)", page.read_text(encoding="utf-8"), flags=re.M)[1:]
    for entry in entries:
        identifier = entry[5:entry.index("]")]
        place = rules[identifier][0]
        off = re.search(r"^Off: (.*)$", entry, re.M)
        words = re.findall(r"`(no-[a-z-]+)`", off[1]) if off else []
        if not words or not set(words) - {"no-look-ahead", "no-returns", "no-copies"} <= switches:
            problems.append(f"{place}: error: [{identifier}] names no option that switches it off: {words}")
        named = MUTANTS.search(entry)
        names = re.findall(r"`([a-z-]+/[a-z-]+)`", named[1]) if named else []
        for name in names:
            entries_of.setdefault(name, []).append(identifier)
        for name in set(names) - known:
            problems.append(f"{place}: error: [{identifier}] names a mutant that does not exist: {name}")
        if len(names) < 2 and "Not enumerated: " not in entry:
            problems.append(f"{place}: error: [{identifier}] has no two mutants, and no reason for that")
    problems += [f"{page.relative_to(root)}:1: error: no entry names the mutant {name}" for name in sorted(known - entries_of.keys())]
    killed = set(re.findall(r"^(?:killed|elsewhere) +([a-z-]+):([a-z-]+) ", (root / "tests/reduce/killers.txt").read_text(encoding="utf-8"), re.M))
    problems += [f"tests/reduce/killers.txt:1: error: no program notices the mutant {name}"
                 for name in sorted(known - {f"{reduction}/{mutant}" for reduction, mutant in killed})]
    return problems


def check_ranks(root, rules):
    """Every entry of spec/ranks.md names two mutants, every mutant has an entry, and the test tries it."""
    page = root / "spec/ranks.md"
    if not page.exists():
        return []
    known = set(re.findall(r"^  (\w+)", (root / "src/explore/ranks/rank_mutant.h").read_text(encoding="utf-8"), re.M)) - {"None"}
    tried = set(re.findall(r"RankMutant::(\w+)", (root / "tests/unit/explore/rank_model_test.cpp").read_text(encoding="utf-8")))
    problems, named = [], set()
    for entry in re.split(r"^(?=### \[)", page.read_text(encoding="utf-8"), flags=re.M)[1:]:
        identifier = entry[5:entry.index("]")]
        line = MUTANTS.search(entry)
        names = set(re.findall(r"`(\w+)`", line[1])) if line else set()
        named |= names
        if (len(names & known) < 2 and "Not enumerated: " not in entry) or names - known:
            problems.append(f"{rules[identifier][0]}: error: [{identifier}] names no two mutants, or one that does not exist: {sorted(names)}")
    problems += [f"{page.relative_to(root)}:1: error: no entry names the mutant {name}" for name in sorted(known - named)]
    problems += [f"{page.relative_to(root)}:1: error: no test tries the mutant {name}" for name in sorted(known - tried)]
    return problems


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


def looks_like_a_rule(identifier, rules):
    """Usage texts have brackets, too: only what is close to a rule is a mistaken citation."""
    families = {re.split(r"[.-]", rule)[0] for rule in rules}
    return re.split(r"[.-]", identifier)[0] in families or difflib.get_close_matches(identifier, rules, 1, 0.7)


def main(argv):
    uncited_ok = "--uncited-ok" in argv
    folders = [a for a in argv[1:] if not a.startswith("--")]
    root = pathlib.Path(folders[0] if folders else ".")
    rules, problems = stated_rules(root)
    problems += compare_with_table(root, rules)
    problems += check_reductions(root, rules)
    problems += check_ranks(root, rules)
    cited = set()
    for identifier, path, number in citations(root):
        if identifier not in rules and looks_like_a_rule(identifier, rules):
            problems.append(f"{path}:{number}: error: [{identifier}] is cited, but spec/ states no such rule")
        elif identifier in rules and path not in NOT_PROOF:
            cited.add(identifier)
    planned = 0
    for identifier, (place, _, is_planned) in rules.items():
        planned += is_planned
        if identifier not in cited and not is_planned and not uncited_ok:
            problems.append(f"{place}: error: no test or source cites [{identifier}]")
        if identifier in cited and is_planned:
            print(f"{place}: note: [{identifier}] is cited now; remove '(planned)'")
    print("\n".join(problems) or f"rules: {len(rules)} stated, {len(cited)} cited, {planned} planned")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
