#!/usr/bin/env python3
"""Random kernels whose results are numbers: what a GPU prints, Heddle must print.

    random_values.py --seed=N > FILE.cu
    random_values.py --compare random_values.json --heddle HEDDLE --nvcc NVCC --cache FOLDER

Each kernel computes with variables of all scalar types, small vectors, structures, arrays in local, shared and global
memory, loops, branches, calls, recursion, shuffles, votes and atomics whose order makes no difference; at its end each
thread folds its variables into one word, and the program prints a hash of each kernel's words. There are no races, no
undefined behaviour that nvcc makes use of (shifts are masked, divisors are not zero, signed sums are made unsigned),
and no function that PTX only approximates.

random_values.json says what an H200 printed for a few seeds. -fmad=false, since otherwise ptxas, too, makes fma of
multiplications and additions. Where ptxas itself is at fault the GPU prints other numbers with -Xptxas -O0 than
without; such seeds, about one in twenty, are no use, nor are those in which a recursion needs more than the GPU's stack.
"""
import argparse
import difflib
import json
import os
import random
import subprocess
import sys

from program import Compiler

INTEGERS = {"u8": "unsigned char", "i8": "signed char", "u16": "unsigned short", "i16": "short", "u32": "unsigned", "i32": "int",
            "u64": "unsigned long long", "i64": "long long"}
FLOATS = {"f32": "float", "f64": "double"}
TYPES = {**INTEGERS, **FLOATS}
BITS = {"u8": 8, "i8": 8, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "u64": 64, "i64": 64}
WEIGHTED = ["u32"] * 6 + ["i32"] * 5 + ["u64"] * 3 + ["i64"] * 3 + ["f32"] * 5 + ["f64"] * 3 + ["u8", "i8", "u16", "i16"]

PRELUDE = """#include <cstdio>
#include <cstdint>
#include <cstring>
#include <vector>

using u8 = unsigned char; using i8 = signed char; using u16 = unsigned short; using i16 = short;
using u32 = unsigned; using i32 = int; using u64 = unsigned long long; using i64 = long long;
using f32 = float; using f64 = double;

struct Pair { u32 a; f32 b; };
struct Mixed { u8 a; i16 b; u64 c; f32 d[3]; u32 e : 5; i32 f : 11; u32 g : 16; };
union Bits32 { u32 u; f32 f; u8 b[4]; };

__device__ inline u32 fold(u32 h, u64 v) {
  h ^= static_cast<u32>(v); h *= 0x01000193u; h ^= h >> 15;
  h ^= static_cast<u32>(v >> 32); h *= 0x85ebca6bu; return h ^ (h >> 13);
}
// All not-a-numbers are one: which one an operation gives is not said.
__device__ inline u32 fold(u32 h, f32 v) { return fold(h, v != v ? u64{0x7fc00000} : u64{__float_as_uint(v)}); }
__device__ inline u32 fold(u32 h, f64 v) { return fold(h, v != v ? u64{1} : static_cast<u64>(__double_as_longlong(v))); }
__device__ inline u32 fold(u32 h, u32 v) { return fold(h, u64{v}); }
__device__ inline u32 fold(u32 h, i32 v) { return fold(h, u64{static_cast<u32>(v)}); }
__device__ inline u32 fold(u32 h, i64 v) { return fold(h, static_cast<u64>(v)); }
// Conversions from floating point that are defined for every value.
__device__ inline u32 to_u32(f32 v) { return __float2uint_rz(v); }
__device__ inline u32 to_u32(f64 v) { return __double2uint_rz(v); }
__device__ inline i64 to_i64(f32 v) { return __float2ll_rn(v); }
__device__ inline i64 to_i64(f64 v) { return __double2ll_rd(v); }
"""


class Kernel:
    def __init__(self, source, number):
        self.r, self.n = source, number
        self.vars = {}      # name -> type, that can be read here
        self.fixed = set()  # loop variables
        self.lines = []
        self.depth = 0
        self.names = 0
        self.uniform = True  # all threads of the warp are here
        self.helpers = []
        self.loops = 1      # how often this place is executed, at most
        self.in_helper = False

    def emit(self, text):
        self.lines.append("  " * (self.depth + 1) + text)

    def name(self, prefix):
        self.names += 1
        return f"{prefix}_{self.names}"

    # --- expressions -------------------------------------------------------------------------------------------
    def leaf(self, t):
        r = self.r
        fitting = [v for v, vt in self.vars.items() if vt == t]
        if fitting and r.random() < 0.75:
            return r.choice(fitting)
        if t in FLOATS:
            value = r.choice(["0.5", "-1.25", "3.0", "1e-3", "7.75", "-0.0", "1e10", "0.1", "2.0", "-3.5e-5"])
            return value + ("f" if t == "f32" else "")
        value = r.choice([0, 1, 2, 3, 5, 7, 13, 100, 127, 128, 255, r.getrandbits(8), r.getrandbits(BITS[t] - 1)]) % (1 << (BITS[t] - 1))
        return f"{t}({value}{'ull' if BITS[t] == 64 else ''})"

    def expr(self, t, depth=3):
        r = self.r
        if depth <= 0 or r.random() < 0.12:
            return self.leaf(t)
        if r.random() < 0.16:
            return self.convert(t, depth)
        if r.random() < 0.08:
            return f"({self.condition(depth - 1)} ? {self.expr(t, depth - 1)} : {self.expr(t, depth - 1)})"
        if self.helpers and r.random() < 0.07:
            name, result, parameters = r.choice(self.helpers)
            if self.loops <= 64:
                return f"{t}({self.narrowed(t, result, name + '(' + ', '.join(self.expr(p, depth - 2) for p in parameters) + ')')})"
        return self.floating(t, depth) if t in FLOATS else self.integer(t, depth)

    def narrowed(self, t, source, text):
        """`text` of type `source` as something that can be converted to t for every value."""
        if source in FLOATS and t not in FLOATS:
            return f"to_i64({text})" if BITS[t] == 64 else f"to_u32({text})"
        return text

    def convert(self, t, depth):
        source = self.r.choice(WEIGHTED)
        return f"{t}({self.narrowed(t, source, self.expr(source, depth - 1))})"

    def condition(self, depth):
        t = self.r.choice(WEIGHTED)
        text = f"({self.expr(t, depth)} {self.r.choice(['<', '<=', '>', '>=', '==', '!='])} {self.expr(t, depth)})"
        if self.r.random() < 0.2:
            text = f"({text} {self.r.choice(['&&', '||', '!='])} {self.condition(depth - 1)})" if depth > 0 else f"!{text}"
        return text

    def floating(self, t, depth):
        r, e = self.r, lambda: self.expr(t, depth - 1)
        s = "f" if t == "f32" else ""
        forms = [lambda: f"({e()} + {e()})", lambda: f"({e()} - {e()})", lambda: f"({e()} * {e()})", lambda: f"({e()} * {e()} + {e()})",
                 lambda: f"({e()} / {e()})", lambda: f"fma{s}({e()}, {e()}, {e()})", lambda: f"fmin{s}({e()}, {e()})",
                 lambda: f"fmax{s}({e()}, {e()})", lambda: f"fabs{s}({e()})", lambda: f"(-({e()}))", lambda: f"floor{s}({e()})",
                 lambda: f"ceil{s}({e()})", lambda: f"trunc{s}({e()})", lambda: f"rint{s}({e()})", lambda: f"sqrt{s}(fabs{s}({e()}))",
                 lambda: f"copysign{s}({e()}, {e()})", lambda: f"{t}({self.expr('i32', depth - 1)})", lambda: f"{t}({self.expr('u64', depth - 1)})"]
        if t == "f32":
            forms += [lambda: f"__fadd_rz({e()}, {e()})", lambda: f"__fmul_ru({e()}, {e()})", lambda: f"__fmaf_rd({e()}, {e()}, {e()})",
                      lambda: f"__saturatef({e()})", lambda: f"__fdiv_rn({e()}, {e()})", lambda: f"__fsqrt_rd(fabsf({e()}))",
                      lambda: f"__uint_as_float({self.expr('u32', depth - 1)})", lambda: f"__double2float_ru({self.expr('f64', depth - 1)})",
                      lambda: f"ldexpf({e()}, int({self.expr('i8', depth - 1)}))", lambda: f"__half2float(__float2half_rn({e()}))",
                      lambda: f"__half2float(__hfma(__float2half_rn({e()}), __float2half_rz({e()}), __float2half_rn({e()})))",
                      lambda: f"__bfloat162float(__float2bfloat16_rn({e()}))",
                      lambda: f"__low2float(__hadd2(__floats2half2_rn({e()}, {e()}), __floats2half2_rn({e()}, {e()})))",
                      lambda: f"__high2float(__hmul2(__floats2half2_rn({e()}, {e()}), __floats2half2_rn({e()}, {e()})))"]
        else:
            forms += [lambda: f"__dadd_rd({e()}, {e()})", lambda: f"__dmul_rz({e()}, {e()})", lambda: f"__fma_ru({e()}, {e()}, {e()})",
                      lambda: f"__longlong_as_double({self.expr('i64', depth - 1)})", lambda: f"ldexp({e()}, int({self.expr('i8', depth - 1)}))",
                      lambda: f"__ddiv_rz({e()}, {e()})", lambda: f"__dsqrt_ru(fabs({e()}))"]
        return r.choice(forms)()

    def integer(self, t, depth):
        r, e = self.r, lambda: self.expr(t, depth - 1)
        wide = "u64" if BITS[t] == 64 else "u32"
        other = lambda x: self.expr(x, depth - 1)
        forms = [lambda op=op: f"{t}({wide}({e()}) {op} {wide}({e()}))" for op in ("+", "-", "*", "&", "|", "^")]
        forms += [lambda: f"{t}({wide}({e()}) << ({other('u32')} & {BITS[wide] - 1}))", lambda: f"{t}({e()} >> ({other('u32')} & {BITS[t] - 1}))",
                  lambda: f"{t}(~{e()})", lambda: f"{t}({e()} / {t}({e()} | {t}(1)))" if t[0] == "u" else f"{t}({e()} / {t}(({e()} & {t}(63)) + 1))",
                  lambda: f"{t}({e()} % {t}({e()} | {t}(1)))" if t[0] == "u" else f"{t}({e()} % {t}(({e()} & {t}(31)) + 2))",
                  lambda: f"min({e()}, {e()})" if BITS[t] >= 32 else f"{t}(min(i32({e()}), i32({e()})))",
                  lambda: f"max({e()}, {e()})" if BITS[t] >= 32 else f"{t}(max(i32({e()}), i32({e()})))",
                  lambda: f"{t}({self.condition(depth - 1)})",
                  lambda: f"{t}({wide}({e()}) * {wide}({e()}) + {wide}({e()}))"]
        if t == "u32":
            forms += [lambda: f"__brev({e()})", lambda: f"u32(__popc({e()}))", lambda: f"u32(__clz({other('i32')}))", lambda: f"u32(__ffsll({other('i64')}))",
                      lambda: f"__byte_perm({e()}, {e()}, {e()})", lambda: f"__funnelshift_l({e()}, {e()}, {e()})", lambda: f"__funnelshift_rc({e()}, {e()}, {e()})",
                      lambda: f"__umulhi({e()}, {e()})", lambda: f"__usad({e()}, {e()}, {e()})", lambda: f"__dp4a({e()}, {e()}, {e()})",
                      lambda: f"__vadd4({e()}, {e()})", lambda: f"__vabsdiffu4({e()}, {e()})", lambda: f"__vmaxs2({e()}, {e()})", lambda: f"__vcmpgtu2({e()}, {e()})",
                      lambda: f"__vsubus4({e()}, {e()})", lambda: f"__vavgu4({e()}, {e()})", lambda: f"__uhadd({e()}, {e()})", lambda: f"__umul24({e()}, {e()})",
                      lambda: f"__float_as_uint({other('f32')})", lambda: f"to_u32({other('f32')})", lambda: f"to_u32({other('f64')})",
                      lambda: f"u32(__double2hiint({other('f64')}))", lambda: f"u32(__half_as_ushort(__float2half_ru({other('f32')})))",
                      lambda: f"u32(__bfloat16_as_ushort(__float2bfloat16_rz({other('f32')})))", lambda: f"u32(Bits32{{{e()}}}.b[{other('u32')} & 3])"]
        if t == "i32":
            forms += [lambda: f"__mulhi({e()}, {e()})", lambda: f"__float2int_ru({other('f32')})", lambda: f"__double2int_rn({other('f64')})", lambda: f"__dp4a({e()}, {e()}, {e()})",
                      lambda: f"__dp2a_hi({e()}, {e()}, {e()})", lambda: f"i32(__sad({e()}, {e()}, {other('u32')}))", lambda: f"__rhadd({e()}, {e()})", lambda: f"__mul24({e()}, {e()})",
                      lambda: f"__half2int_rd(__float2half_rn({other('f32')}))", lambda: f"abs({e()} | 1)"]
        if t == "u64":
            forms += [lambda: f"__brevll({e()})", lambda: f"u64(__popcll({e()}))", lambda: f"__umul64hi({e()}, {e()})", lambda: f"__float2ull_rd({other('f32')})",
                      lambda: f"__double2ull_rn({other('f64')})", lambda: f"u64({other('u32')}) * {other('u32')}",
                      lambda: f"u64((unsigned __int128)(0 + {e()}) * {e()} >> 37)", lambda: f"u64(((unsigned __int128)(0 + {e()}) << 64 | {e()}) / ({e()} | 1))"]
        if t == "i64":
            forms += [lambda: f"__mul64hi({e()}, {e()})", lambda: f"to_i64({other('f32')})", lambda: f"to_i64({other('f64')})", lambda: f"i64({other('i32')}) * {other('i32')}",
                      lambda: f"i64(((__int128)(0 + {e()}) * {e()}) >> 41)", lambda: f"__double_as_longlong({other('f64')})"]
        return r.choice(forms)()

    # --- statements --------------------------------------------------------------------------------------------
    def assignable(self):
        return [v for v in self.vars if v not in self.fixed]

    def declare(self, t=None):
        t = t or self.r.choice(WEIGHTED)
        value = self.expr(t)
        v = self.name(t[0])
        self.emit(f"{t} {v} = {value};")
        self.vars[v] = t

    def assign(self):
        v = self.r.choice(self.assignable())
        t = self.vars[v]
        if t not in FLOATS and self.r.random() < 0.3:
            self.emit(f"{v} {self.r.choice(['^=', '|=', '&='])} {self.expr(t)};")
        else:
            self.emit(f"{v} = {self.expr(t)};")

    def block(self, budget):
        before = dict(self.vars)
        self.depth += 1
        self.statements(budget)
        self.depth -= 1
        self.vars = before

    def branch(self, budget):
        uniform, self.uniform = self.uniform, False
        self.emit(f"if {self.wrapped(self.condition(2))} {{")
        self.block(budget // 2)
        if self.r.random() < 0.6:
            self.emit("} else {")
            self.block(budget // 2)
        self.emit("}")
        self.uniform = uniform

    @staticmethod
    def wrapped(text):
        return text if text.startswith("(") and text.endswith(")") else f"({text})"

    def switch(self, budget):
        uniform, self.uniform = self.uniform, False
        cases = self.r.randint(3, 9)
        self.emit(f"switch ({self.expr('u32', 2)} % {cases + 1}) {{")
        for c in range(cases):
            self.emit(f"case {c}: {{")
            self.block(max(1, budget // cases))
            self.emit("}" + (" break;" if self.r.random() < 0.7 else ""))
        self.emit(f"default: {self.r.choice(self.assignable())} = 1;")
        self.emit("}")
        self.uniform = uniform

    def loop(self, budget):
        i = self.name("i")
        uniform = self.uniform
        count = self.r.randint(2, 6)
        bound = str(count)
        if self.r.random() < 0.5:
            bound, self.uniform = f"(1 + ({self.expr('u32', 1)}) % {count})", False
            limit = self.name("n")
            self.emit(f"const u32 {limit} = {bound};")
            bound = limit
        self.emit(f"for (u32 {i} = 0; {i} < {bound}; ++{i}) {{")
        self.vars[i] = "u32"
        self.fixed.add(i)
        self.loops *= count
        if self.r.random() < 0.4:
            self.uniform = False
            self.depth += 1
            self.emit(f"if {self.wrapped(self.condition(1))} {self.r.choice(['break', 'continue'])};")
            self.depth -= 1
        self.block(budget // 2)
        self.loops //= count
        self.emit("}")
        del self.vars[i]
        self.uniform = uniform

    def local_array(self):
        t = self.r.choice(["u32", "i16", "f32", "u64", "f64", "u8"])
        n = self.r.choice([4, 7, 16])
        a, i = self.name("a"), self.name("i")
        self.emit(f"{t} {a}[{n}];")
        self.vars[i] = "u32"
        self.emit(f"for (u32 {i} = 0; {i} < {n}; ++{i}) {a}[{i}] = {self.expr(t, 2)};")
        del self.vars[i]
        for _ in range(self.r.randint(1, 3)):
            self.emit(f"{a}[({self.expr('u32', 2)}) % {n}] = {self.expr(t, 2)};")
        v = self.name(t[0])
        self.emit(f"{t} {v} = {a}[({self.expr('u32', 2)}) % {n}];")
        self.vars[v] = t

    def structure(self):
        s = self.name("s")
        self.emit(f"Mixed {s}; memset(&{s}, 0, sizeof {s});")
        for member, t in (("a", "u8"), ("b", "i16"), ("c", "u64"), ("e", "u32"), ("f", "i32"), ("g", "u32")):
            if self.r.random() < 0.7:
                self.emit(f"{s}.{member} = {self.expr(t, 2)};")
        self.emit(f"{s}.d[({self.expr('u32', 1)}) % 3] = {self.expr('f32', 2)};")
        copy = self.name("s")
        self.emit(f"Mixed {copy} = {self.condition(1)} ? {s} : *reinterpret_cast<const Mixed*>(&{s});")
        v, w = self.name("u"), self.name("f")
        self.emit(f"u64 {v} = {copy}.c + {copy}.a * 3 + {copy}.e + u32({copy}.f) + {copy}.g + u32({copy}.b); f32 {w} = {copy}.d[0] + {copy}.d[1];")
        self.vars[v], self.vars[w] = "u64", "f32"

    def memory(self):
        r = self.r
        v = self.name("v")
        kind = r.choice(["in", "float4", "uchar4", "short2", "double2", "ulonglong2", "ldg", "constant"])
        where = f"(0u + {self.expr('u32', 2)})"
        if kind == "in":
            self.emit(f"const u32 {v} = in[{where} & 1023];")
            self.vars[v] = "u32"
        elif kind == "constant":
            self.emit(f"const u32 {v} = table[{where} & 63];")
            self.vars[v] = "u32"
        elif kind == "ldg":
            self.emit(f"const i64 {v} = __ldg(reinterpret_cast<const i64*>(in) + ({where} & 511));")
            self.vars[v] = "i64"
        else:
            t = {"float4": "f32", "uchar4": "u8", "short2": "i16", "double2": "f64", "ulonglong2": "u64"}[kind]
            size = {"float4": 16, "uchar4": 4, "short2": 4, "double2": 16, "ulonglong2": 16}[kind]
            x = self.name("x")
            self.emit(f"const {kind} {x} = reinterpret_cast<const {kind}*>(in)[{where} % {4096 // size}];")
            self.emit(f"const {t} {v} = {t}({x}.{r.choice('xy')});")
            self.vars[v] = t
        self.fixed.add(v)

    def through_shared(self):
        """All threads of the block: each writes its word, then reads another's."""
        t = self.r.choice(["u32", "f32", "i32"])
        v = self.name(t[0])
        self.emit("__syncthreads();")
        self.emit(f"shared[threadIdx.x] = {'__float_as_uint(' + self.expr('f32', 2) + ')' if t == 'f32' else 'u32(' + self.expr(t, 2) + ')'};")
        self.emit("__syncthreads();")
        other = self.name("o")
        self.emit(f"const u32 {other} = shared[({self.expr('u32', 2)}) % blockDim.x];")
        self.emit(f"{t} {v} = {'__uint_as_float(' + other + ')' if t == 'f32' else t + '(' + other + ')'};")
        self.vars[v] = t

    def warp(self):
        t = self.r.choice(["u32", "i32", "f32", "u64", "f64"])
        v = self.name(t[0])
        kind = self.r.choice(["xor", "up", "down", "idx", "ballot", "any", "all", "reduce", "match", "count"])
        if kind in ("xor", "up", "down", "idx"):
            function = {"xor": "__shfl_xor_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "idx": "__shfl_sync"}[kind]
            width = self.r.choice([32, 16, 8])
            second = f"(0u + {self.expr('u32', 2)}) & 31" if kind == "idx" else str(self.r.randint(1, 9))
            self.emit(f"{t} {v} = {function}(~0u, {self.expr(t, 2)}, {second}, {width});")
        elif kind == "ballot":
            t = "u32"
            self.emit(f"u32 {v} = __ballot_sync(~0u, {self.condition(2)});")
        elif kind in ("any", "all"):
            t = "i32"
            self.emit(f"i32 {v} = __{kind}_sync(~0u, {self.condition(2)});")
        elif kind == "reduce":
            t = "u32"
            self.emit(f"u32 {v} = __reduce_{self.r.choice(['add', 'min', 'max', 'and', 'or', 'xor'])}_sync(~0u, {self.expr('u32', 2)});")
        elif kind == "match":
            t = "u32"
            self.emit(f"u32 {v} = __match_any_sync(~0u, {self.expr('u32', 2)} & 3);")
        else:
            t = "i32"
            self.emit(f"i32 {v} = __syncthreads_count({self.condition(2)});")
        self.vars[v] = t

    def atomic(self):
        op = self.r.choice(["Add", "Min", "Max", "And", "Or", "Xor"])
        t = self.r.choice(["u32", "u64", "i32"])
        place = f"sums_{t}[{['Add', 'Min', 'Max', 'And', 'Or', 'Xor'].index(op)}]"
        self.emit(f"atomic{op}(&{place}, {self.expr(t, 2)});")

    def statement(self, budget):
        r = self.r
        choices = [self.declare] * 3 + [self.assign] * 5
        if budget > 2:
            choices += [lambda: self.branch(budget)] * 3 + [lambda: self.loop(budget)] * 2 + [lambda: self.switch(budget)]
        choices += [self.local_array, self.structure]
        if not self.in_helper:
            choices += [self.memory] * 2 + [self.atomic]
            if self.uniform:
                choices += [self.through_shared] + [self.warp] * 2
        r.choice(choices)()

    def statements(self, budget):
        for _ in range(max(1, budget)):
            self.statement(budget)

    # --- functions ---------------------------------------------------------------------------------------------
    def helper(self, index):
        """A function of its own; some call themselves, some are reached through pointers."""
        r = self.r
        t = r.choice(WEIGHTED)
        parameters = [r.choice(WEIGHTED) for _ in range(r.randint(1, 4))]
        name = f"h{self.n}_{index}"
        saved = self.vars, self.lines, self.uniform
        self.vars, self.lines, self.uniform, self.in_helper = {f"p{i}": p for i, p in enumerate(parameters)}, [], False, True
        recursive = r.random() < 0.35
        arguments = ", ".join(f"{p} p{i}" for i, p in enumerate(parameters))
        self.declare()
        self.statements(r.randint(2, 4))
        if recursive:
            self.emit(f"if (depth > 0) return {name}_r(depth - 1, {', '.join(self.expr(p, 2) for p in parameters)});")
        result = self.expr(t)
        body = "\n".join(self.lines)
        self.vars, self.lines, self.uniform = saved
        self.in_helper = False
        attribute = r.choice(["__noinline__", "__noinline__", "__forceinline__"]) if not recursive else "__noinline__"
        if recursive:
            text = (f"__device__ {attribute} {t} {name}_r(i32 depth, {arguments}) {{\n{body}\n  return {result};\n}}\n"
                    f"__device__ inline {t} {name}({arguments}) {{ return {name}_r(3, {', '.join(f'p{i}' for i in range(len(parameters)))}); }}\n")
        else:
            text = f"__device__ {attribute} {t} {name}({arguments}) {{\n{body}\n  return {result};\n}}\n"
        self.helpers.append((name, t, parameters))
        return text

    def text(self):
        r = self.r
        before = "".join(self.helper(i) for i in range(r.randint(0, 3)))
        self.vars = {"tid": "u32", "block": "u32", "any": "u32"}
        self.fixed = {"tid", "block", "any"}
        for t in ("u32", "i32", "f32", "u64", "f64"):
            self.declare(t)
        self.emit("f32 small = f32(i32(any & 0xffff) - 0x8000) / 64.0f; f64 fine = f64(i32(any)) / 3.0;")
        self.vars["small"], self.vars["fine"] = "f32", "f64"
        self.statements(r.randint(6, 14))
        folds = "\n".join(f"  h = fold(h, {v if t in ('u32', 'i32', 'u64', 'i64', *FLOATS) else f'u32({v})'});" for v, t in self.vars.items())
        body = "\n".join(self.lines)
        return (f"{before}__global__ void k{self.n}(const u32* in, u32* out, u32* sums_u32, i32* sums_i32, u64* sums_u64) {{\n"
                f"  __shared__ u32 shared[1024];\n  const u32 tid = threadIdx.x, block = blockIdx.x;\n"
                f"  const u32 any = in[(block * blockDim.x + tid) & 1023];\n{body}\n  u32 h = tid;\n{folds}\n"
                f"  out[block * blockDim.x + tid] = h;\n}}\n")


MAIN = """
template <class K> void run(const char* name, K kernel, u32 blocks, u32 threads, const u32* in) {
  const size_t n = blocks * threads;
  u32* out; char* sums;
  cudaMalloc(&out, n * 4); cudaMalloc(&sums, 192); cudaMemset(sums, 0x5a, 192);
  kernel<<<blocks, threads>>>(in, out, reinterpret_cast<u32*>(sums), reinterpret_cast<i32*>(sums + 64), reinterpret_cast<u64*>(sums + 128));
  std::vector<u32> h(n + 48);
  cudaMemcpy(h.data(), out, n * 4, cudaMemcpyDeviceToHost);
  const cudaError_t e = cudaMemcpy(h.data() + n, sums, 192, cudaMemcpyDeviceToHost);
  u64 all = 14695981039346656037ull;
  for (u32 v : h) { all = (all ^ v) * 1099511628211ull; }
  printf("%s %s %016llx %08x %08x\\n", name, cudaGetErrorString(e), all, h[0], h[n - 1]);
  cudaFree(out); cudaFree(sums);
}

int main() {
  std::vector<u32> values(1024);
  u64 x = SEED;
  for (size_t i = 0; i < values.size(); ++i) {
    x = x * 6364136223846793005ull + 1442695040888963407ull;
    values[i] = u32(x >> 33) >> (i % 5 == 0 ? 20 : i % 7 == 0 ? 8 : 0);
    if (i % 3 == 0) { const f32 f = f32(i32(values[i])) / 1000.0f; memcpy(&values[i], &f, 4); }
  }
  u32* in;
  cudaMalloc(&in, 4096);
  cudaMemcpy(in, values.data(), 4096, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(table, values.data() + 64, sizeof table);
"""


def program(seed, kernels):
    source = random.Random(seed)
    parts = [PRELUDE, "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n__constant__ u32 table[64];\n"]
    calls = []
    for n in range(kernels):
        parts.append(Kernel(random.Random(source.getrandbits(64)), n).text())
        calls.append(f'  run("k{n}", k{n}, {source.choice([1, 2, 3])}, {source.choice([32, 64, 96, 128])}, in);\n')
    return "\n".join(parts) + MAIN.replace("SEED", f"{seed}ull") + "".join(calls) + "}\n"


def compare(options):
    with open(options.compare, encoding="utf-8") as file:
        recorded = json.load(file)
    wrong = 0
    os.makedirs(options.cache, exist_ok=True)
    compiler = Compiler(options.nvcc, os.path.abspath(options.cache))
    for seed, expected in recorded["printed"].items():
        path = os.path.join(os.path.abspath(options.cache), f"random_values_{seed}.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program(int(seed), recorded["kernels"]))
        executable = compiler.compile([path], recorded["flags"])
        done = subprocess.run([options.heddle, "run", executable], capture_output=True, text=True, timeout=300, check=False)
        printed = done.stdout.splitlines()
        if printed != expected:
            wrong += 1
            print(f"seed {seed}, exit code {done.returncode}", *difflib.unified_diff(expected, printed, "H200", "heddle", lineterm="", n=0), done.stderr, sep="\n")
    print(f"{len(recorded['printed'])} seeds of {recorded['kernels']} kernels, {wrong} wrong")
    return 1 if wrong else 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--kernels", type=int, default=16)
    options.add_argument("--compare", help="what a GPU printed")
    options.add_argument("--heddle")
    options.add_argument("--nvcc", default="nvcc")
    options.add_argument("--cache")
    options = options.parse_args()
    if options.compare:
        return compare(options)
    print(program(options.seed, options.kernels), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
