#!/usr/bin/env python3
"""Wraps the prose of Markdown pages: paragraphs and list items with a line of more than 120 characters.

    wrap_prose.py FILE…

Only such paragraphs change, and only where their lines break. Tables, code, headings, quotations and HTML
stay as they are.
check_files.py fails on a line that is too long, by the same function.
"""
import pathlib
import re
import sys

LONGEST = 120
ITEM = re.compile(r" *(?:[-*] |\d+\. )?")
# The lines of an entry of spec/reductions.md and spec/ranks.md that check_rules.py reads begin a line each.
STARTS = re.compile(r" *(?:[-*] |\d+\. )|(?:Off|Mutants|Not enumerated|Assumptions?|Conditions?): ")
# A word: code in backticks and the text of a link are kept in one piece.
WORD = re.compile(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+")
# What would begin a list, a heading, a quotation or a code block at the beginning of a line.
TAKEN = re.compile(r"(?:[-*+]|#+|\d+\.)$|[>|<]|```")


def lines_of_prose(lines):
    """(number from 0, line) of what is prose: no table, no code, no heading, no HTML."""
    fence, after_blank = None, True
    for number, line in enumerate(lines):
        if mark := re.match(r" *(```+|~~~+)", line):
            fence = None if fence == mark[1] else fence or mark[1]
        elif not fence and line.strip() and not line.startswith(("|", "#", "<", ">")):
            # Indented after a blank line: code, unless a list goes on there.
            if not (after_blank and line.startswith("    ")):
                yield number, line
                after_blank = False
            continue
        after_blank = not line.strip()


def long_lines(text):
    """Numbers, from 1, of lines of prose that are too long and could be broken."""
    return [number + 1 for number, line in lines_of_prose(text.splitlines())
            if len(line) > LONGEST and len(WORD.findall(line)) > 1]


def wrap_paragraph(lines):
    if max(map(len, lines)) <= LONGEST:
        return lines
    first = ITEM.match(lines[0])[0]
    words = WORD.findall(" ".join([lines[0][len(first):]] + [line.strip() for line in lines[1:]]))
    result, current = [], first + words[0]
    for word in words[1:]:
        if len(current) + 1 + len(word) > LONGEST and not TAKEN.match(word):
            result.append(current)
            current = " " * len(first) + word
        else:
            current += " " + word
    return result + [current]


def wrap(text):
    lines = text.split("\n")
    result, paragraph = [], []

    def flush():
        result.extend(wrap_paragraph(paragraph) if paragraph else [])
        paragraph.clear()

    prose = dict(lines_of_prose(lines))
    for number, line in enumerate(lines):
        if number not in prose:
            flush()
            result.append(line)
            continue
        if STARTS.match(line):
            flush()
        paragraph.append(line)
        if line.endswith("  "):  # a line break that is meant
            flush()
    flush()
    return "\n".join(result)


def main(argv):
    for name in argv[1:]:
        path = pathlib.Path(name)
        text = path.read_text(encoding="utf-8")
        if (wrapped := wrap(text)) != text:
            path.write_text(wrapped, encoding="utf-8")
            print(f"{name}: wrapped")


if __name__ == "__main__":
    main(sys.argv)
