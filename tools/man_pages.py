#!/usr/bin/env python3
"""Manual pages from `heddle --reference`: heddle.1 and one page for each command.

    man_pages.py HEDDLE FOLDER
"""
import pathlib
import re
import subprocess
import sys


def roff(text):
    """A line of running text: what roff would read as a command or an escape is not."""
    text = text.replace("\\", "\\e").replace("`", "").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def sections(reference):
    """(command, lines) of each "## heddle COMMAND"."""
    parts = re.split(r"^## (heddle.*)$", reference, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def page(title, text, version):
    usage = re.findall(r"^  (heddle .*)$", text, re.M)
    about = next((line for line in text.splitlines() if line.strip() and line[0] not in "|`# "), "")
    lines = [f'.TH "{title.upper().replace(" ", "-")}" 1 "" "heddle {version}" "Heddle"', ".SH NAME"]
    lines += [roff(f"{title.replace(' ', '-')} - {about.rstrip('.') or 'run and check CUDA C++ programs on the CPU'}")]
    lines += [".SH SYNOPSIS"]
    for line in usage or ["heddle COMMAND [OPTIONS] …"]:
        lines += [".nf", roff(line), ".fi"]
    lines += [".SH OPTIONS"]
    for flag, meaning, default in re.findall(r"^\| `(.*?)` \| (.*?) \| (.*?) \|$", text, re.M):
        lines += [".TP", f".B {roff(flag)}", roff(meaning + (f" (default: {default})" if default else ""))]
    lines += [".SH EXIT STATUS"]
    lines += [roff("0 clean, 1 a defect, 2 usage, 3 not supported, 4 clean but the search was cut short, 70 a defect of Heddle")]
    return "\n".join(lines) + "\n"


def main(heddle, folder):
    def ask(flag):
        return subprocess.run([heddle, flag], capture_output=True, text=True, check=True).stdout

    version = ask("--version").split()[-1]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for title, text in sections(ask("--reference")):
        (folder / f"{title.replace(' ', '-')}.1").write_text(page(title, text, version))


if __name__ == "__main__":
    main(*sys.argv[1:])
