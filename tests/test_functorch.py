"""Every nesting of torch.func transforms gives the VALUES that it gives for the same function of aten operators."""

from itertools import chain, combinations

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from op_specs import each_sample

REPRESENTATIVE = {
    "duplicates", "depth_0", "rank_1_indices", "ignored_indices", "empty_batch",
    "every_row", "chosen_rows", "missing_ids", "segment_count_from_last_id", "no_rows_chosen",
    "columns", "some_empty", "unsorted_duplicates", "hybrid", "expanded",
}  # fmt: skip


def all_of(xs):
    return tuple(range(len(xs)))


def batch_of(xs, dim=0):
    return tuple(torch.stack([x, 2 * x, x - 1], dim) for x in xs)


def loss_of(f):
    return lambda *xs: f(*xs).pow(3).sum()


def jvp_along_ones(f):
    return lambda *xs: jvp(f, xs, tuple(torch.ones_like(x) for x in xs))[1]


TRANSFORMS = {
    "grad": lambda f, xs: grad(loss_of(f), all_of(xs))(*xs),
    "vjp": lambda f, xs: vjp(f, *xs)[1](f(*xs)),
    "jvp": lambda f, xs: jvp(f, xs, tuple(x.cos() for x in xs)),
    "vmap": lambda f, xs: vmap(f)(*batch_of(xs)),
    "vmap_over_the_last_dim": lambda f, xs: vmap(f, in_dims=-1, out_dims=-1)(*batch_of(xs, -1)),
    "vmap_in_chunks": lambda f, xs: vmap(f, chunk_size=2)(*batch_of(xs)),
    "vmap_of_vmap": lambda f, xs: vmap(vmap(f), in_dims=-1)(*batch_of(batch_of(xs), -1)),
    "vmap_of_grad": lambda f, xs: vmap(grad(loss_of(f), all_of(xs)))(*batch_of(xs)),
    "vmap_of_jvp": lambda f, xs: vmap(jvp_along_ones(f))(*batch_of(xs)),
    "grad_of_vmap": lambda f, xs: grad(loss_of(vmap(f)), all_of(xs))(*batch_of(xs)),
    "grad_of_grad": lambda f, xs: grad(lambda *xs: grad(loss_of(f))(*xs).cos().sum(), all_of(xs))(*xs),
    "grad_of_jvp": lambda f, xs: grad(loss_of(jvp_along_ones(f)), all_of(xs))(*xs),
    "jvp_of_grad": lambda f, xs: jvp_along_ones(grad(loss_of(f), all_of(xs)))(*xs),
    "jvp_of_jvp": lambda f, xs: jvp_along_ones(jvp_along_ones(f))(*xs),
    "jvp_of_vmap": lambda f, xs: jvp_along_ones(vmap(f))(*batch_of(xs)),
    "jacrev": lambda f, xs: jacrev(f, all_of(xs))(*xs),
    "jacfwd": lambda f, xs: jacfwd(f, all_of(xs))(*xs),
    "hessian": lambda f, xs: hessian(loss_of(f), all_of(xs))(*xs),
    "jacrev_of_jacrev": lambda f, xs: jacrev(jacrev(f))(*xs),
    "jacrev_of_jacfwd": lambda f, xs: jacrev(jacfwd(f))(*xs),
    "jacfwd_of_jacfwd": lambda f, xs: jacfwd(jacfwd(f))(*xs),
    "third_derivative": lambda f, xs: jacfwd(hessian(loss_of(f)))(*xs),
    "vmap_of_hessian": lambda f, xs: vmap(hessian(loss_of(f)))(*batch_of(xs)),
}


def nonlinear(spec, implementation, sample):
    f = spec.as_function_of_values(implementation, sample)
    return lambda *xs: f(*(x.sin() for x in xs))


@each_sample(torch.float64, names=REPRESENTATIVE)
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_transform(spec, sample, transform):
    inputs = tuple(spec.value_tensors(sample))
    actual = transform(nonlinear(spec, spec.op, sample), inputs)
    torch.testing.assert_close(actual, transform(nonlinear(spec, spec.aten, sample), inputs))


@each_sample(torch.float64, names=REPRESENTATIVE)
def test_vmap_of_no_examples(spec, sample):
    f, inputs = nonlinear(spec, spec.op, sample), tuple(spec.value_tensors(sample))
    result = vmap(f)(*(x[:0] for x in batch_of(inputs)))
    assert result.shape == (0, *f(*inputs).shape)


@each_sample(torch.complex128, names=REPRESENTATIVE)
@pytest.mark.parametrize("name", ["vjp", "jvp", "vmap", "vmap_of_jvp", "jvp_of_jvp"])
def test_transform_of_complex_values(spec, sample, name):
    inputs = tuple(spec.value_tensors(sample))
    actual = TRANSFORMS[name](nonlinear(spec, spec.op, sample), inputs)
    torch.testing.assert_close(actual, TRANSFORMS[name](nonlinear(spec, spec.aten, sample), inputs))


@each_sample(torch.float64, names=REPRESENTATIVE - {"segment_count_from_last_id"})  # its size varies in a batch
def test_vmap_over_any_arguments(spec, sample):
    """Per-example indices as well as per-example values, against a loop over the examples."""
    leaves, structure = tree_flatten(sample.args)
    shapes = sample.args[2] if spec.name == "sparse_concat" else []
    candidates = [
        i for i, leaf in enumerate(leaves)
        if isinstance(leaf, torch.Tensor) and not any(leaf is shape for shape in shapes)
    ]  # fmt: skip
    subsets = chain.from_iterable(combinations(candidates, n) for n in range(1, len(candidates) + 1))
    for batched in subsets:
        # Halved indices stay in bounds, and in order where they were.
        examples = [leaves, [leaf // 2 if i in batched else leaf for i, leaf in enumerate(leaves)]]
        in_dims = [0 if i in batched else None for i in range(len(leaves))]
        stacked = [torch.stack([e[i] for e in examples]) if i in batched else leaf for i, leaf in enumerate(leaves)]

        def call(*leaves):
            args = tree_unflatten(list(leaves), structure)
            result = spec.op(*args, **sample.kwargs)
            return result if spec.output is None else result[:2]

        expected = [call(*example) for example in examples]
        expected = tree_map(lambda *results: torch.stack(results), *expected)
        torch.testing.assert_close(vmap(call, in_dims=tuple(in_dims))(*stacked), expected)
