#!/usr/bin/env python3
"""Stages the documents for mkdocs and builds the site.

    site.py [--gallery FOLDER] [--stage-only]

Everything keeps its place relative to the root, so links between documents hold. A link to a file that is no
document (a template of ci) gets a copy of the file. A link to a file or a heading that does not exist is an error.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"
THEME = "mkdocs-material==9.7.7"
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]*`", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*?)#*$", re.M)


def documents():
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                             capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(name) for name in listing.splitlines()
            if name.split("/")[0] in ("docs", "spec", "ci", "src") or "/" not in name]


def links(name):
    """Each link of a document to something of this project: the target as written, its path, the heading."""
    for target, heading in LINK.findall(CODE.sub("", (ROOT / name).read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            yield target, (ROOT / name).parent / target if target else ROOT / name, heading


def headings(path):
    """The names by which links find the headings of a page, as mkdocs and GitHub make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    plain = (re.sub(r"\]\([^)]*\)", "", title) for title in HEADING.findall(text))
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in plain}


def broken_links(names):
    for name in names:
        for target, path, heading in links(name):
            # Pages of the gallery are made.
            if not path.exists() and not ("gallery" in name.parts and target.endswith(".html")):
                yield f"{name}: {target}"
            elif heading and path.suffix == ".md" and heading not in headings(path):
                yield f"{name}: {target}#{heading}"


def generator():
    """mkdocs and its settings: with the theme of PyPI, or, where that cannot be had, with one that mkdocs brings."""
    place = ROOT / "build" / f"site-{THEME.replace('==', '-')}"
    mkdocs = place / "bin" / "mkdocs"
    if not mkdocs.exists():
        shutil.rmtree(place, ignore_errors=True)
        steps = ([sys.executable, "-m", "venv", place],
                 [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", THEME])
        if any(subprocess.run(step, stdout=sys.stderr).returncode for step in steps):
            print(f"site: PyPI does not give {THEME}: built with the theme readthedocs", file=sys.stderr)
            shutil.rmtree(place, ignore_errors=True)
            return "mkdocs", "mkdocs.yml"
    return mkdocs, "mkdocs-material.yml"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gallery", type=pathlib.Path, help="pages that tools/gallery.py has made")
    parser.add_argument("--links", action="store_true", help="only look for links to files that do not exist")
    options = parser.parse_args()
    names = documents()
    broken = list(broken_links(names))
    if broken:
        sys.exit("links to nothing:\n  " + "\n  ".join(broken))
    if options.links:
        return
    shutil.rmtree(SOURCE, ignore_errors=True)
    for name in names:
        (SOURCE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, SOURCE / name)
    for page in sorted(options.gallery.glob("*.html")) if options.gallery else []:
        shutil.copy(page, SOURCE / "docs" / "gallery")
    shutil.copytree(ROOT / "examples", SOURCE / "examples")
    for name in names:
        for _, path, _ in links(name):
            place = SOURCE / path.resolve().relative_to(ROOT)
            if path.is_file() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)
    mkdocs, config = generator()
    # Strict: what mkdocs only warns of fails.
    os.environ["NO_MKDOCS_2_WARNING"] = "true" # the theme speaks of versions that are not used
    sys.exit(subprocess.run([mkdocs, "build", "--quiet", "--strict", "--config-file", ROOT / config]).returncode)


if __name__ == "__main__":
    main()
