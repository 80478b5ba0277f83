#!/usr/bin/env python3
"""Stages the documents for mkdocs and builds the site.

    site.py [--gallery FOLDER] [--stage-only]

Everything keeps its place relative to the root, so links between documents hold. A link to a file that is no
document (a source) becomes one to nothing in the site; a link to a document that does not exist is an error.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]*`", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def documents():
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                             capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(name) for name in listing.splitlines()
            if name.split("/")[0] in ("docs", "spec", "ci") or "/" not in name]


def broken_links(names):
    for name in names:
        for target, _ in LINK.findall(CODE.sub("", (ROOT / name).read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            path = (ROOT / name).parent / target
            # Pages of the gallery are made.
            if not path.exists() and not ("gallery" in name.parts and target.endswith(".html")):
                yield f"{name}: {target}"


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
    sys.exit(subprocess.run(["mkdocs", "build", "--quiet", "--config-file", ROOT / "mkdocs.yml"]).returncode)


if __name__ == "__main__":
    main()
