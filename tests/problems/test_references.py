"""The references against other formulations of the same mathematics."""

import math

import pytest
import torch
from torch.nn.functional import conv1d, normalize

from tests.problems.specification import Case, draw, expected, specification

C = 64


@pytest.mark.parametrize("width", [1, 3, 4, 8])
def test_convolution_is_torchs_convolution(width):
    case = Case({"B": 2, "D": 5, "S": 33, "W": width}, "normal")
    x, weight, bias = draw("causal_conv1d", case)
    (out,) = expected("causal_conv1d", case, (x, weight, bias))
    theirs = conv1d(x.double(), weight.double()[:, None], bias.double(), padding=width - 1, groups=5)[:, :, :33]
    torch.testing.assert_close(out, theirs, rtol=1e-12, atol=1e-12)


def test_last_tap_meets_the_present():
    x, weight, bias = torch.zeros(1, 1, 6), torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([0.5])
    x[0, 0, 2] = 1
    (out,) = specification("causal_conv1d").reference((x, weight, bias), {"B": 1, "D": 1, "S": 6, "W": 3})
    assert out.flatten().tolist() == [0.5, 0.5, 3.5, 2.5, 1.5, 0.5]


def test_sum_element_by_element():
    case = Case({"n": 5}, "normal")
    x, y = draw("vector_add", case)
    (out,) = expected("vector_add", case, (x, y))
    assert out.tolist() == [a + b for a, b in zip(x.tolist(), y.tolist(), strict=True)]


@pytest.mark.parametrize("distribution", ["normal", "large", "negative", "masked"])
def test_softmax_is_torchs_softmax(distribution):
    case = Case({"M": 7, "N": 33}, distribution)
    (x,) = draw("softmax", case)
    (y,) = expected("softmax", case, (x,))
    torch.testing.assert_close(y, torch.softmax(x.double(), dim=1), rtol=1e-12, atol=1e-300)


def test_softmax_of_three_values():
    x = torch.tensor([[0.0, math.log(2), math.log(5)]], dtype=torch.float64)
    (y,) = specification("softmax").reference((x,), {"M": 1, "N": 3})
    torch.testing.assert_close(y, torch.tensor([[0.125, 0.25, 0.625]], dtype=torch.float64))


@pytest.mark.parametrize("distribution", ["normal", "outliers", "zero_groups", "below_eps", "one_hot"])
def test_quantisation_step_by_step(distribution):
    case = Case({"tokens": 3, "hidden": 96, "group": 32}, distribution)
    (x,) = draw("fp8_quant", case)
    x_q, x_s = expected("fp8_quant", case, (x,))
    for row in range(3):
        for group in range(3):
            values = x[row, group * 32 : (group + 1) * 32].tolist()
            scale = max(max(abs(value) for value in values), 1e-10) / 448
            assert math.isclose(x_s[row, group], scale, rel_tol=1e-14)
            for i, value in enumerate(values):
                assert math.isclose(x_q[row, group * 32 + i], value / scale, rel_tol=1e-14, abs_tol=1e-300)


def test_quantised_values_span_the_format_and_give_the_input_back():
    case = Case({"tokens": 4, "hidden": 256, "group": 64}, "normal")
    (x,) = draw("fp8_quant", case)
    x_q, x_s = expected("fp8_quant", case, (x,))
    assert torch.allclose(x_q.unflatten(1, (-1, 64)).abs().amax(2), torch.tensor(448.0, dtype=torch.float64))
    assert torch.allclose(x_q * x_s.repeat_interleave(64, 1), x.double(), rtol=1e-12)


# --- Gated DeltaNet: the three chunk-wise passes together must equal the recurrence, one token at a time ---


def token_by_token(q, k, v, beta, log_decay):
    """The gated delta rule as the paper writes it, without chunks.

    q, k: (B, T, H, K), v: (B, T, H, V), beta, log_decay: (B, T, H); float64. With S the state (K, V):
        S = decay S;  new = beta (v - k S);  S = S + k^T new;  o = q S / sqrt(K)

    Returns the state before each token, (B, T, H, K, V), `new`, which is what v_new must be, and o.
    """
    B, T, H, K = k.shape
    S = torch.zeros(B, H, K, v.shape[-1], dtype=torch.float64)
    before, new, o = [], [], []
    for t in range(T):
        before.append(S)
        S = S * log_decay[:, t].exp()[..., None, None]
        predicted = torch.einsum("bhk,bhkv->bhv", k[:, t], S)
        new.append(beta[:, t, :, None] * (v[:, t] - predicted))
        S = S + torch.einsum("bhk,bhv->bhkv", k[:, t], new[-1])
        o.append(torch.einsum("bhk,bhkv->bhv", q[:, t], S) / math.sqrt(K))
    return torch.stack(before, 1), torch.stack(new, 1), torch.stack(o, 1)


@pytest.mark.parametrize("distribution", ["model", "slow", "fast", "resets", "aligned", "one_hot", "writes"])
def test_three_passes_are_the_token_by_token_recurrence(distribution):
    shape = {"B": 2, "T": 3 * C, "H": 2, "K": 32, "V": 16}
    k, v, beta, A, g = draw("recompute_w_u", Case(shape, distribution))
    q = normalize(torch.randn(k.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64), dim=-1)
    w, u = specification("recompute_w_u").reference((k, v, beta, A, g), shape)
    h, v_new = specification("chunk_fwd_h").reference((k, w, u, g), shape)
    (o,) = specification("chunk_fwd_o").reference((q, k, v_new, h, g), shape)

    before, new, output = token_by_token(q, k.double(), v.double(), beta.double(), steps_of(g.double()))

    close = {"rtol": 1e-4, "atol": 1e-5}  # A and g were rounded to float32
    torch.testing.assert_close(v_new, new, **close)
    torch.testing.assert_close(h, before[:, ::C], **close)
    torch.testing.assert_close(o, output, **close)

    (chain,) = specification("gdn_forward").reference((q, k, v, beta, A, g), shape)
    torch.testing.assert_close(chain, o, rtol=1e-12, atol=1e-15)


def steps_of(g):
    """Undo the sum within each chunk: (B, T, H) -> the log-decay of each step."""
    chunks = g.unflatten(1, (-1, C))
    return torch.cat([chunks[:, :, :1], chunks.diff(dim=2)], dim=2).flatten(1, 2)


def test_state_pass_is_linear_in_values_and_starts_from_zero():
    shape = {"B": 1, "T": 3 * C, "H": 2, "K": 16, "V": 8}
    k, w, u, g = draw("chunk_fwd_h", Case(shape, "model"))
    h, v_new = expected("chunk_fwd_h", Case(shape, "model"), (k, w, u, g))
    h2, v2 = expected("chunk_fwd_h", Case(shape, "model"), (k, w, 2 * u, g))
    assert not h[:, 0].any()
    torch.testing.assert_close(v_new[:, :C], u[:, :C].double())
    torch.testing.assert_close(h2, 2 * h)
    torch.testing.assert_close(v2, 2 * v_new)


def test_output_element_by_element():
    shape = {"B": 1, "T": 2 * C, "H": 1, "K": 8, "V": 3}
    case = Case(shape, "model")
    q, k, v_new, h, g = (t.double() for t in draw("chunk_fwd_o", case))
    (o,) = expected("chunk_fwd_o", case, (q, k, v_new, h, g))
    for t in (0, 1, 40, C - 1, C, C + 7, 2 * C - 1):
        n = t // C
        total = g[0, t, 0].exp() * (q[0, t, 0] @ h[0, n, 0])
        for j in range(n * C, t + 1):
            total = total + (q[0, t, 0] @ k[0, j, 0]) * (g[0, t, 0] - g[0, j, 0]).exp() * v_new[0, j, 0]
        torch.testing.assert_close(o[0, t, 0], total / math.sqrt(8))


def test_given_inverse_solves_the_triangular_system():
    shape = {"B": 1, "T": 2 * C, "H": 2, "K": 16, "V": 8}
    k, _, beta, A, g = (t.double() for t in draw("recompute_w_u", Case(shape, "model")))
    for n in range(2):
        for head in range(2):
            chunk = slice(n * C, (n + 1) * C)
            keys, gates = k[0, chunk, head], g[0, chunk, head]
            system = torch.eye(C, dtype=torch.float64)
            for i in range(C):
                for j in range(i):
                    system[i, j] = beta[0, n * C + i, head] * (keys[i] @ keys[j]) * (gates[i] - gates[j]).exp()
            product = A[0, chunk, head] @ system
            torch.testing.assert_close(product, torch.eye(C, dtype=torch.float64), rtol=0, atol=1e-5)
