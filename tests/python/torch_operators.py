"""PyTorch's operators on CUDA tensors: computed on the CPU, in the order of their streams."""
import torch
import torch.nn.functional as F

assert torch.cuda.is_available()
torch.manual_seed(3)
first = torch.rand(4, device="cuda")
state = torch.cuda.get_rng_state()
second = torch.rand(4, device="cuda")
torch.cuda.set_rng_state(state)
assert torch.equal(second, torch.rand(4, device="cuda")) and not torch.equal(first, second)

# Views, strides, in place, out=, and shapes that depend on data.
x = torch.arange(10, device="cuda").view(2, 5)
print(x.t().contiguous()[1].tolist(), x[:, 1:3].add_(10).tolist(), x[x > 7].tolist())
out = torch.empty(0, device="cuda")
torch.add(torch.ones(3, device="cuda"), 1, out=out)
print(out.tolist(), torch.unique(torch.tensor([3, 1, 3], device="cuda")).tolist())

# Types.
z = torch.complex(torch.ones(2, device="cuda"), torch.ones(2, device="cuda"))
print((z.conj() * z).real.tolist(), torch.ones(2, device="cuda").to(torch.float8_e4m3fn).float().tolist())

# Layers, autograd and an optimiser, against the CPU.
layers = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                             torch.nn.Flatten(), torch.nn.Linear(64, 3))
images, labels = torch.randn(2, 1, 4, 4), torch.tensor([1, 2])


def loss_of(device):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[layer for layer in __import__("copy").deepcopy(layers)]).to(device)
    optimiser = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item()


print(abs(loss_of("cuda") - loss_of("cpu")) < 1e-4)

# Streams, events, pinned memory.
stream, event = torch.cuda.Stream(), torch.cuda.Event()
with torch.cuda.stream(stream):
    tripled = torch.ones(1000, device="cuda") * 3
    event.record()
torch.cuda.current_stream().wait_event(event)
tripled.record_stream(torch.cuda.current_stream())
print(tripled.sum().item(), torch.ones(10).pin_memory().to("cuda", non_blocking=True).sum().item())
