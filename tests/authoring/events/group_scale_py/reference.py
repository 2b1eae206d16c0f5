import torch
import torch.nn.functional as F
from utils import seeded

LEAST = 1e-6


def draw(shape, generator):
    return F.silu(torch.randn(shape, generator=generator, device="cuda:0"))


def generate_input(tokens, hidden, group, kind, seed):
    torch.cuda.synchronize()
    x = draw((tokens, hidden), seeded(seed)).contiguous().cuda()
    scaled = torch.empty_like(x)
    scale = torch.empty(tokens, hidden // group, device="cuda")
    return x, scaled, scale


def ref_kernel(data):
    x, scaled, scale = data
    groups = x.to(torch.float32).reshape(*scale.shape, -1)
    scale[...] = groups.abs().amax(-1).clamp(min=LEAST)
    scaled.copy_((groups / scale[..., None].to(torch.float32)).reshape(x.shape))
    return scaled, scale


def check_implementation(data, output):
    return True, ""
