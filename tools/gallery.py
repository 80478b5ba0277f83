#!/usr/bin/env python3
"""The gallery: runs heddle on each program of examples/gallery, writes a page for each and an index.

    tools/gallery.py [--heddle FILE] [--only NAME] FOLDER     pages and index.md into FOLDER
    tools/gallery.py --check FOLDER                           also: docs/gallery/README.md is up to date

A program says by its first comment what it shows: a title, a paragraph, and a line
"gallery: COMMAND [OPTIONS] [-- ARGUMENTS]; expect: VERDICT". A verdict other than the expected one is an
error, and so is a page without data.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

import wrap_prose

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs" / "gallery" / "README.md"
# Programs outside of the folder, which have no such comment.
OTHERS = {
    ROOT / "examples" / "look_back_scan.cu": (
        "A prefix sum with decoupled look-back",
        "Block N works on tile N and waits for the sum of tile N - 1. Nothing promises that the block of "
        "tile N - 1 starts. With a ticket in the place of the block's index the program ends.",
        ["check", "--", "index"],
        "may-hang",
    )
}


def entry(path):
    """(title, paragraph, words of the command, expected verdict) of a source file."""
    if path in OTHERS:
        return OTHERS[path]
    comment = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        comment.append(line[2:].strip())
    directive = next((line for line in comment if line.startswith("gallery:")), None)
    found = re.fullmatch(r"gallery: (.*); expect: ([a-z-]+)", directive or "")
    if not found or len(comment) < 3:
        sys.exit(f"{path}: the first comment needs a title, a paragraph and a line 'gallery: …; expect: …'")
    text = comment[1 : comment.index(directive)]
    return comment[0], " ".join(text), found.group(1).split(), found.group(2)


def data_of(page):
    found = re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)
    return json.loads(found.group(1))


def make(heddle, path, folder):
    """Writes the page; returns its lines of the index."""
    title, text, words, expected = entry(path)
    source = path.relative_to(ROOT).as_posix()
    name = path.stem
    page = folder / f"{name}.html"
    rest = words[words.index("--") :] if "--" in words else []
    flags = words[: words.index("--")] if rest else words
    command = [str(heddle), *flags, "--html", str(page), source, *rest]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    if not page.exists():
        sys.exit(f"{source}: no page was written (exit code {done.returncode})\n{done.stderr}")
    data = data_of(page)
    report = data["report"]
    if report["verdict"] != expected:
        sys.exit(f"{source}: {report['verdict']} where {expected} is expected\n{done.stdout}{done.stderr}")
    finding = report["findings"][0]
    steps = data["traces"][0]["steps"] if data["traces"] and data["traces"][0] else []
    if expected == "may-hang" and not steps:
        sys.exit(f"{source}: the page has no steps")
    shown = " ".join(["heddle", *flags, source, *rest])
    return (
        f"## {title}\n\n{text}\n\n"
        f"[Page]({name}.html) · [source](../../{source}) · `{shown}`\n\n"
        f"> {finding['code']}: {finding['message']} [{finding['rule']}]\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "heddle")
    parser.add_argument("--only", help="the program with this name alone; no index")
    parser.add_argument("--check", action="store_true", help="docs/gallery/README.md must be what comes out")
    parser.add_argument("--write", action="store_true", help="write docs/gallery/README.md")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    paths = [*OTHERS] + sorted((ROOT / "examples" / "gallery").glob("*.cu"))
    if options.only:
        paths = [path for path in paths if path.stem == options.only]
    if not paths:
        sys.exit(f"there is no program '{options.only}'")
    entries = [make(options.heddle.absolute(), path, options.folder.absolute()) for path in paths]
    if options.only:
        return
    index = wrap_prose.wrap(
        "# Gallery: well-known hangs and races\n\n"
        "`./dev gallery` makes a page of each from its source. A page shows the verdict, which thread waits\n"
        "for which, and the execution step by step. It needs no network.\n\n" + "\n".join(entries)
    )
    (options.folder / "index.md").write_text(index)
    if options.write:
        INDEX.parent.mkdir(exist_ok=True)
        INDEX.write_text(index)
    if options.check and (not INDEX.exists() or INDEX.read_text() != index):
        sys.exit("docs/gallery/README.md is not what comes out: ./dev gallery")
    print(f"{len(entries)} pages in {options.folder}")


if __name__ == "__main__":
    main()
