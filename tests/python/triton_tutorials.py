"""What Triton's tutorials teach, at small sizes, each compared with PyTorch: triton_tutorials.py [NAME…]

The kernels are written for this test: addition, softmax, product with grouped programs, dropout, layer norm
(its backward pass has a lock for each group of rows), attention, libdevice, grouped products, a persistent
product on tensor descriptors, products of blocks with a scale each.
"""
import os
import sys

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

TESTS = {}


def test(function):
    TESTS[function.__name__] = function
    return function


def same(a, b, tolerance=1e-4):
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@test
def addition():
    x, y = random(1000), random(1000)
    out = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, BLOCK=256)
    same(out, x + y)


@triton.jit
def softmax_kernel(x, out, stride, rows, columns, BLOCK: tl.constexpr, stages: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=stages):
        j = tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + j, mask=j < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * stride + j, powers / tl.sum(powers, axis=0), mask=j < columns)


@test
def softmax():
    x = random(23, 81)
    out = torch.empty_like(x)
    softmax_kernel[(8,)](x, out, x.stride(0), 23, 81, BLOCK=128, stages=2)
    same(out, torch.softmax(x, 1))


@triton.autotune(configs=[triton.Config({"M": 32, "N": 32, "K": 16, "GROUP": 2}, num_warps=4, num_stages=3),
                          triton.Config({"M": 16, "N": 64, "K": 32, "GROUP": 2}, num_warps=2, num_stages=2)],
                 key=["m", "n", "k"])
@triton.jit
def product_kernel(a, b, c, m, n, k, sa, sb, sc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                   GROUP: tl.constexpr):
    part = tl.program_id(0)
    per_row = tl.cdiv(n, N)
    group = part // (GROUP * per_row)
    height = min(tl.cdiv(m, M) - group * GROUP, GROUP)
    row = group * GROUP + (part % (GROUP * per_row)) % height
    column = (part % (GROUP * per_row)) // height
    i = (row * M + tl.arange(0, M)) % m
    j = (column * N + tl.arange(0, N)) % n
    step = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, tl.cdiv(k, K)):
        left = tl.load(a + i[:, None] * sa + (at * K + step)[None, :], mask=step[None, :] < k - at * K, other=0.0)
        right = tl.load(b + (at * K + step)[:, None] * sb + j[None, :], mask=step[:, None] < k - at * K, other=0.0)
        total = tl.dot(left, right, total)
    i = row * M + tl.arange(0, M)
    j = column * N + tl.arange(0, N)
    tl.store(c + i[:, None] * sc + j[None, :], total.to(tl.float16), mask=(i[:, None] < m) & (j[None, :] < n))


@test
def product():
    a, b = random(96, 40, dtype=torch.float16), random(40, 72, dtype=torch.float16)
    c = torch.empty(96, 72, device="cuda", dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(96, meta["M"]) * triton.cdiv(72, meta["N"]),)
    product_kernel[grid](a, b, c, 96, 72, 40, a.stride(0), b.stride(0), c.stride(0))
    same(c, a @ b, 2e-2)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)


@test
def dropout():
    x = torch.ones(600, device="cuda")
    one, again, other = (torch.empty_like(x) for _ in range(3))
    for out, seed in ((one, 1), (again, 1), (other, 2)):
        dropout_kernel[(3,)](x, out, 600, 0.5, seed, BLOCK=256)
    same(one, again)
    assert not torch.equal(one, other) and 200 < (one != 0).sum().item() < 400


@triton.jit
def norm_backward(dx, dy, dw, x, w, mean, rstd, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < columns
    v = tl.load(x + row * columns + j, mask=inside, other=0)
    g = tl.load(dy + row * columns + j, mask=inside, other=0)
    weight = tl.load(w + j, mask=inside, other=0)
    scale = tl.load(rstd + row)
    hat = tl.where(inside, (v - tl.load(mean + row)) * scale, 0.0)
    wg = tl.where(inside, weight * g, 0.0)
    c1 = tl.sum(hat * wg, axis=0) / columns
    c2 = tl.sum(wg, axis=0) / columns
    tl.store(dx + row * columns + j, (wg - (hat * c1 + c2)) * scale, mask=inside)
    # Rows of a group share a sum, behind a lock.
    group = row % GROUPS
    lock = locks + group
    begun = locks + GROUPS + group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    part = g * hat
    if tl.load(begun) == 0:
        tl.atomic_xchg(begun, 1)
    else:
        part += tl.load(dw + group * columns + j, mask=inside)
    tl.store(dw + group * columns + j, part, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@test
def layer_norm():
    x = random(12, 48).requires_grad_()
    w = random(48).requires_grad_()
    dy = random(12, 48)
    torch.nn.functional.layer_norm(x, (48,), w, eps=1e-5).backward(dy)
    mean = x.detach().mean(1)
    rstd = (x.detach().var(1, unbiased=False) + 1e-5).rsqrt()
    dx, dw = torch.empty(12, 48, device="cuda"), torch.empty(4, 48, device="cuda")
    locks = torch.zeros(8, dtype=torch.int32, device="cuda")
    norm_backward[(12,)](dx, dy, dw, x.detach(), w.detach(), mean, rstd, locks, 48, GROUPS=4, BLOCK=64, num_warps=2)
    same(dx, x.grad, 1e-3)
    same(dw.sum(0), w.grad, 1e-3)


@triton.jit
def attention_kernel(q, k, v, out, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(0) * M
    head = tl.program_id(1) * n * D
    i = first + tl.arange(0, M)
    d = tl.arange(0, D)
    query = tl.load(q + head + i[:, None] * D + d[None, :])
    top = tl.full([M], -float("inf"), tl.float32)
    below = tl.zeros([M], tl.float32)
    total = tl.zeros([M, D], tl.float32)
    for at in range(0, first + M, N):
        j = at + tl.arange(0, N)
        key = tl.load(k + head + j[None, :] * D + d[:, None])
        score = tl.dot(query, key) * scale + tl.where(i[:, None] >= j[None, :], 0, -1.0e6)
        now = tl.maximum(top, tl.max(score, 1))
        p = tl.exp2(score - now[:, None])
        shrink = tl.exp2(top - now)
        below = below * shrink + tl.sum(p, 1)
        value = tl.load(v + head + j[:, None] * D + d[None, :])
        total = tl.dot(p.to(tl.float16), value, total * shrink[:, None])
        top = now
    tl.store(out + head + i[:, None] * D + d[None, :], (total / below[:, None]).to(tl.float16))


@test
def attention():
    q, k, v = (random(2, 64, 16, dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    attention_kernel[(2, 2)](q, k, v, out, 64, 1.44269504 / 4, M=32, N=16, D=16)
    expected = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
    same(out.float(), expected, 2e-2)


@triton.jit
def asin_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.asin(tl.load(x + i, mask=i < n)), mask=i < n)


@test
def library():
    x = torch.rand(100, device="cuda")
    out = torch.empty_like(x)
    asin_kernel[(1,)](x, out, 100, BLOCK=128)
    same(out, torch.asin(x))


@triton.jit
def grouped_kernel(lefts, rights, outs, sizes, groups, PROGRAMS: tl.constexpr, B: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        m = tl.load(sizes + g * 3)
        n = tl.load(sizes + g * 3 + 1)
        k = tl.load(sizes + g * 3 + 2)
        count = tl.cdiv(m, B) * tl.cdiv(n, B)
        while tile >= before and tile < before + count:
            a = tl.load(lefts + g).to(tl.pointer_type(tl.float16))
            b = tl.load(rights + g).to(tl.pointer_type(tl.float16))
            c = tl.load(outs + g).to(tl.pointer_type(tl.float16))
            here = tile - before
            i = here // tl.cdiv(n, B) * B + tl.arange(0, B)
            j = here % tl.cdiv(n, B) * B + tl.arange(0, B)
            s = tl.arange(0, B)
            total = tl.zeros((B, B), tl.float32)
            for at in range(0, k, B):
                left = tl.load(a + i[:, None] * k + (at + s)[None, :])
                right = tl.load(b + (at + s)[:, None] * n + j[None, :])
                total = tl.dot(left, right, total)
            tl.store(c + i[:, None] * n + j[None, :], total.to(tl.float16))
            tile += PROGRAMS
        before += count


@test
def grouped_products():
    sizes = [(32, 16, 48), (16, 64, 16), (48, 32, 32)]
    lefts = [random(m, k, dtype=torch.float16) for m, n, k in sizes]
    rights = [random(k, n, dtype=torch.float16) for m, n, k in sizes]
    outs = [torch.empty(m, n, device="cuda", dtype=torch.float16) for m, n, k in sizes]
    addresses = [torch.tensor([t.data_ptr() for t in some], device="cuda") for some in (lefts, rights, outs)]
    grouped_kernel[(3,)](*addresses, torch.tensor(sizes, dtype=torch.int32, device="cuda"), 3, PROGRAMS=3, B=16)
    for left, right, out in zip(lefts, rights, outs):
        same(out, left @ right, 2e-2)


@triton.jit
def persistent_kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    out = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * tl.cdiv(n, N), tl.num_programs(0)):
        i = tile // tl.cdiv(n, N) * M
        j = tile % tl.cdiv(n, N) * N
        total = tl.zeros((M, N), tl.float32)
        for at in range(0, k, K):
            total = tl.dot(left.load([i, at]), right.load([j, at]).T, total)
        out.store([i, j], total.to(tl.float16))


@test
def persistent_product():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    a, b = random(128, 64, dtype=torch.float16), random(96, 64, dtype=torch.float16)
    c = torch.empty(128, 96, device="cuda", dtype=torch.float16)
    persistent_kernel[(3,)](a, b, c, 128, 96, 64, M=64, N=32, K=32, num_warps=4)
    same(c, a @ b.T, 2e-2)


@triton.jit
def scaled_kernel(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                  LEFT: tl.constexpr, RIGHT: tl.constexpr):
    """Elements of 8 or 4 bits; 32 neighbours along K share a power of two."""
    left_bytes: tl.constexpr = K // 2 if LEFT == "e2m1" else K
    right_bytes: tl.constexpr = K // 2 if RIGHT == "e2m1" else K
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    group = tl.arange(0, K // 32)[None, :]
    left = tl.load(a + i[:, None] * left_bytes + tl.arange(0, left_bytes)[None, :])
    right = tl.load(b + j[None, :] * right_bytes + tl.arange(0, right_bytes)[:, None])
    left_scale = tl.load(a_scale + i[:, None] * (K // 32) + group)
    right_scale = tl.load(b_scale + j[:, None] * (K // 32) + group)
    total = tl.dot_scaled(left, left_scale, LEFT, right, right_scale, RIGHT)
    tl.store(c + i[:, None] * N + j[None, :], total)


def scaled_operand(rows, columns, kind):
    """The stored bytes, their scales, and the values meant."""
    exponents = torch.randint(124, 131, (rows, columns // 32), device="cuda", dtype=torch.uint8)
    factors = torch.exp2(exponents.float() - 127).repeat_interleave(32, 1)
    if kind == "e4m3":
        stored = random(rows, columns).to(torch.float8_e4m3fn)
        return stored, exponents, stored.float() * factors
    codes = torch.randint(0, 16, (rows, columns), device="cuda", dtype=torch.uint8)
    magnitudes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
    values = magnitudes[(codes & 7).long()] * torch.where(codes >= 8, -1.0, 1.0)
    return codes[:, ::2] | codes[:, 1::2] << 4, exponents, values * factors


@test
def scaled_products():
    for left, right in (("e4m3", "e4m3"), ("e2m1", "e4m3"), ("e2m1", "e2m1")):
        a, a_scale, a_values = scaled_operand(32, 64, left)
        b, b_scale, b_values = scaled_operand(16, 64, right)
        c = torch.empty(32, 16, device="cuda")
        scaled_kernel[(1,)](a, a_scale, b, b_scale, c, M=32, N=16, K=64, LEFT=left, RIGHT=right)
        same(c, a_values @ b_values.T, 1e-2)


torch.manual_seed(0)
for name in sys.argv[1:] or TESTS:
    TESTS[name]()
    torch.cuda.synchronize()
    print(name, flush=True)
