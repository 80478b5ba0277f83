"""Form: one row. Table: the rows of a family. Both turn themselves into PTX text."""

import importlib
import re
from dataclasses import dataclass

FAMILIES = (
    "integer", "bits", "compare", "video", "single", "double", "half", "approximate",
    "convert_integer", "convert_float", "convert_packed", "move", "control", "warp", "memory",
    "atomic", "block",
)

# Input kind → (load suffix, register type). Which values a kind has: inputs.cpp.
KINDS = {
    "i16": ("b16", "b16"), "i32": ("b32", "b32"), "i64": ("b64", "b64"),
    "shift": ("b32", "b32"), "f16": ("b16", "b16"), "bf16": ("b16", "b16"),
    "f32": ("f32", "f32"), "f64": ("f64", "f64"), "f16x2": ("b32", "b32"),
    "bf16x2": ("b32", "b32"), "fp8x2": ("b16", "b16"), "pred": ("b32", "pred"),
    "mask": ("b32", "b32"), "small32": ("b32", "b32"),
}
OUTPUTS = ("b16", "b32", "b64", "f32", "f64", "pred")

TUPLES = 4096             # of a form; the first 256 are stored, all are hashed
TUPLES_EXHAUSTIVE = 65792  # forms with one 16-bit input: 256 and then all 65536
THREADS = 256             # per block


@dataclass
class Form:
    name: str
    asm: str
    ins: list
    outs: list
    compare: str = "exact"
    tuples: int = TUPLES
    registers: str = ""   # extra declarations
    setup: str = ""       # declarations of variables
    memory: tuple = ()    # results that the PTX stores itself, at [%po + 8 * index * tuples]

    def comment(self):
        """The line above the entry; everything that replaying needs to know."""
        outs = " ".join({"f32": "b32", "f64": "b64"}.get(o, o) for o in self.outs)
        return (f"// form {self.name} | {' '.join(self.asm.split())} | in {' '.join(self.ins)}"
                f" | out {outs} | {self.compare} | {self.tuples}")

    def ptx(self):
        lines = [self.comment(),
                 f".visible .entry {self.name}(.param .u64 input, .param .u64 output)", "{"]
        add = lines.append
        add(".reg .b32 %thread, %block, %index;")
        add(".reg .b64 %pi, %po, %offset;")
        for k, kind in enumerate(self.ins):
            add(f".reg .{KINDS[kind][1]} %a{k};")
            if kind == "pred":
                add(f".reg .b32 %w{k};")
        for j, out in enumerate(self.outs):
            if j not in self.memory:
                add(f".reg .{out} %d{j};")
                if out == "pred":
                    add(f".reg .b32 %v{j};")
        if self.registers:
            add(self.registers)
        if self.setup:
            add(self.setup)
        add("mov.u32 %thread, %tid.x;")
        add("mov.u32 %block, %ctaid.x;")
        add(f"mad.lo.u32 %index, %block, {THREADS}, %thread;")
        add("mul.wide.u32 %offset, %index, 8;")
        add("ld.param.u64 %pi, [input];")
        add("ld.param.u64 %po, [output];")
        add("cvta.to.global.u64 %pi, %pi;")
        add("cvta.to.global.u64 %po, %po;")
        add("add.u64 %pi, %pi, %offset;")
        add("add.u64 %po, %po, %offset;")
        for k, kind in enumerate(self.ins):
            at = f"[%pi+{8 * k * self.tuples}]" if k else "[%pi]"
            if kind == "pred":
                add(f"ld.global.b32 %w{k}, {at};")
                add(f"setp.ne.u32 %a{k}, %w{k}, 0;")
            else:
                add(f"ld.global.{KINDS[kind][0]} %a{k}, {at};")
        add(self.asm)
        for j, out in enumerate(self.outs):
            if j in self.memory:
                continue
            at = f"[%po+{8 * j * self.tuples}]" if j else "[%po]"
            if out == "pred":
                add(f"selp.u32 %v{j}, 1, 0, %d{j};")
                add(f"st.global.b32 {at}, %v{j};")
            else:
                add(f"st.global.{out} {at}, %d{j};")
        add("ret;")
        add("}")
        return "\n".join(lines) + "\n"


class Table:
    def __init__(self, family):
        self.family = family
        self.forms = []
        self.names = set()

    def add(self, asm, ins, outs, name=None, **options):
        """A row of free PTX. Strings of kinds are split at blanks."""
        ins, outs = ins.split(), outs.split()
        for kind in ins:
            assert kind in KINDS, kind
        for out in outs:
            assert out in OUTPUTS, out
        base = re.sub(r"\W+", "_", name or asm.split()[0].strip(";")).strip("_")
        unique, n = base, 2
        while unique in self.names:
            unique, n = f"{base}__{n}", n + 1
        self.names.add(unique)
        if "tuples" not in options and len(ins) == 1 and KINDS[ins[0]][0] == "b16":
            options["tuples"] = TUPLES_EXHAUSTIVE
        self.forms.append(Form(unique, asm, ins, outs, **options))

    def op(self, mnemonic, ins, outs, **options):
        """The common row: `mnemonic d…, a…;`."""
        n_in, n_out = len(ins.split()), len(outs.split())
        operands = [f"%d{j}" for j in range(n_out)] + [f"%a{k}" for k in range(n_in)]
        self.add(f"{mnemonic} {', '.join(operands)};", ins, outs, name=mnemonic, **options)

    def each(self, pattern, ins, outs, **options):
        """op() for every expansion of {a,b,…} groups: 'add{,.sat}.s32'. An empty choice is allowed."""
        for mnemonic in expand(pattern):
            self.op(mnemonic, ins, outs, **options)


def expand(pattern):
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    result = []
    for choice in match.group(1).split(","):
        result += expand(pattern[:match.start()] + choice.strip() + pattern[match.end():])
    return result


def family_table(family):
    table = Table(family)
    importlib.import_module(f"forms.{family}").forms(table)
    return table
