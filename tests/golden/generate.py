#!/usr/bin/env python3
"""Golden vectors: from the table of forms to data/ (see README.md).

  generate.py list                        one line per form
  generate.py build OUT                   PTX and cubin of every family into OUT, ptxas' verdicts
  generate.py pack OUT RESULTS            results of record (run on a GPU) into data/

A form that ptxas rejects for sm_90a is reported and left out; it never stops the others.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from forms import FAMILIES, family_table  # noqa: E402

TARGET = "sm_90a"
HEADER = f".version 9.0\n.target {TARGET}\n.address_size 64\n"
# What stands before the first form of a family.
PRELUDE = {
    "memory": """
.const .align 4 .b32 lookup[8] = {1, 2, 3, 0x80000000, 0xffff8000, 0x12345678, 77, 0xdeadbeef};
.global .align 4 .f32 cell[8] = {1.0, 2.5, -3.0, 0f7F800000, 0f80000000, 0f00000001, 1e10, -0.125};
""",
    "control": """
.func (.param .b32 out) three_minus(.param .b32 x, .param .b32 y)
{
.reg .b32 %x, %y;
ld.param.b32 %x, [x];
ld.param.b32 %y, [y];
mul.lo.u32 %x, %x, 3;
sub.u32 %x, %x, %y;
st.param.b32 [out], %x;
ret;
}
.func (.param .b64 out) sum_of(.param .align 16 .b8 pair[16])
{
.reg .b64 %x, %y;
ld.param.v2.b64 {%x, %y}, [pair];
add.u64 %x, %x, %y;
st.param.b64 [out], %x;
ret;
}
.func (.param .b32 out) collatz(.param .b32 n, .param .b32 depth)
{
.reg .b32 %n, %depth, %half, %odd, %out;
.reg .pred %end, %is_odd;
ld.param.b32 %n, [n];
ld.param.b32 %depth, [depth];
setp.le.u32 %end, %n, 1;
setp.ge.or.u32 %end, %depth, 40, %end;
@%end bra STOP;
and.b32 %odd, %n, 1;
shr.u32 %half, %n, 1;
setp.ne.u32 %is_odd, %odd, 0;
@%is_odd mad.lo.u32 %half, %n, 3, 1;
add.u32 %depth, %depth, 1;
{
.param .b32 n1;
.param .b32 d1;
.param .b32 r1;
st.param.b32 [n1], %half;
st.param.b32 [d1], %depth;
call.uni (r1), collatz, (n1, d1);
ld.param.b32 %out, [r1];
}
add.u32 %out, %out, %half;
st.param.b32 [out], %out;
ret;
STOP:
st.param.b32 [out], %depth;
ret;
}
.func (.param .b32 out) twice_by_param(.param .b32 x, .param .b32 y)
{
.reg .b32 %x, %y;
ld.param.b32 %x, [x];
ld.param.b32 %y, [y];
mad.lo.u32 %x, %x, 2, %y;
st.param.b32 [out], %x;
ret;
}
.global .align 8 .u64 functions[2] = {twice_by_param, three_minus};
""",
}
def text(family, forms):
    parts = [f"// Golden family `{family}`: see tests/golden/README.md. Written by generate.py.\n",
             HEADER]
    parts.append(PRELUDE.get(family, ""))
    return "".join(parts) + "\n" + "\n".join(form.ptx() for form in forms)


def ptxas(source, cubin=None):
    """None, or what ptxas says."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(source)
        f.flush()
        run = subprocess.run(["ptxas", f"-arch={TARGET}", f.name, "-o", cubin or "/dev/null"],
                             capture_output=True, text=True)
    return None if run.returncode == 0 else run.stderr


def accepted(family, forms):
    """The forms ptxas takes. Bisects by the line numbers of its messages, then one by one."""
    rejected = {}
    while True:
        source = text(family, forms)
        messages = ptxas(source)
        if messages is None:
            return forms, rejected
        owner, current = {}, None
        for number, line in enumerate(source.splitlines(), 1):
            if line.startswith("// form "):
                current = line.split()[2]
            owner[number] = current
        bad = {}
        for number, message in re.findall(r"line (\d+); (?:error|fatal) *: (.*)", messages):
            if owner.get(int(number)):
                bad.setdefault(owner[int(number)], message)
        if not bad:  # a message without a place: find the form alone
            for form in forms:
                message = ptxas(text(family, [form]))
                if message:
                    bad[form.name] = message.strip().splitlines()[0]
            if not bad:
                sys.exit(f"{family}: {messages}")
        rejected.update(bad)
        forms = [form for form in forms if form.name not in bad]


def build(family, out):
    forms, rejected = accepted(family, family_table(family).forms)
    source = text(family, forms)
    (out / f"{family}.ptx").write_text(source)
    message = ptxas(source, str(out / f"{family}.cubin"))
    assert message is None, message
    return family, len(forms), rejected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    b = commands.add_parser("build")
    b.add_argument("out", type=pathlib.Path)
    b.add_argument("--family", action="append")
    p = commands.add_parser("pack")
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("results", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "list":
        for family in FAMILIES:
            for form in family_table(family).forms:
                print(f"{family:16} {form.comment()[8:]}")
        return
    if arguments.command == "build":
        arguments.out.mkdir(parents=True, exist_ok=True)
        total = 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            families = arguments.family or FAMILIES
            for family, count, rejected in pool.map(lambda f: build(f, arguments.out), families):
                total += count
                print(f"{family}: {count} forms")
                for name, message in rejected.items():
                    print(f"  rejected {name}: {message}")
        print(f"total: {total} forms")
        return
    data = HERE / "data"
    data.mkdir(exist_ok=True)
    for family in FAMILIES:
        for source, target in ((arguments.out / f"{family}.ptx", f"{family}.ptx.zst"),
                               (arguments.results / f"{family}.bits", f"{family}.bits.zst")):
            subprocess.run(["zstd", "-q", "-f", "-19", "--ultra", "--long=24", str(source), "-o",
                            str(data / target)], check=True)
    total = sum(f.stat().st_size for f in data.iterdir())
    print(f"{data}: {total} bytes")


if __name__ == "__main__":
    main()
