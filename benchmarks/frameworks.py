"""How each framework runs a Program in each mode: the one place that knows torch from TensorFlow, JAX and numpy."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_map, tree_map_only

from workloads import BACKWARD, FORWARD, GRAD_FORWARD, INFERENCE, TRAINING


class NotApplicable(Exception):
    """This competitor cannot do this workload; the message says why."""


def _identity(result):
    return result


@dataclass(frozen=True)
class Program:
    """``function(*values, *constants)`` in some framework, with its arguments still torch tensors.

    ``differentiable`` picks the part of the result that depends on the values. ``comparable`` turns the result into
    tensors that are equal for all competitors; other than in TensorFlow and JAX, they are torch's.
    """

    function: Callable
    values: tuple
    constants: tuple = ()
    differentiable: Callable = _identity
    comparable: Callable = _identity


def is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def supports(library: str, mode: str) -> bool:
    return mode in _MODES.get(library, (mode,))


def prepare(library: str, program: Program, mode: str, dtype: str) -> tuple[Callable[[], Any], Callable]:
    """A call without arguments, everything converted, and the function that turns its result into torch tensors."""
    call, to_torch = _FRAMEWORKS.get(library, _torch)(program, mode, dtype)
    if mode in (BACKWARD, TRAINING):
        return call, lambda gradients: tree_map(to_torch, list(gradients))
    return call, lambda result: tree_map(to_torch, program.comparable(result))


def cotangent(shape, dtype: str) -> torch.Tensor:
    """The gradient that every competitor's result receives: the same numbers for equal shapes."""
    generator = torch.Generator().manual_seed(2)
    return torch.randn(tuple(shape), generator=generator).to(getattr(torch, dtype))


def _torch(program: Program, mode: str, dtype: str):
    needs_grad = mode in (GRAD_FORWARD, BACKWARD, TRAINING)
    values = [value.detach().requires_grad_(needs_grad) for value in program.values]
    forward = partial(program.function, *values, *program.constants)
    if mode in (FORWARD, GRAD_FORWARD, INFERENCE):
        return forward, torch.Tensor.detach
    output = program.differentiable(forward())
    grad = cotangent(output.shape, dtype).to(output)

    def training():
        return torch.autograd.grad(program.differentiable(forward()), values, grad)

    def backward():
        return torch.autograd.grad(output, values, grad, retain_graph=True)

    return (training if mode == TRAINING else backward), torch.Tensor.detach


def _tensorflow(program: Program, mode: str, dtype: str):
    import tensorflow as tf

    values, constants = _converted(program, lambda tensor: tf.constant(_to_numpy(tensor)))

    def to_torch(tensor):
        return _from_numpy(tensor.numpy())

    forward = partial(program.function, *values, *constants)
    if mode == FORWARD:
        return forward, to_torch

    def record(persistent):
        with tf.GradientTape(persistent, watch_accessed_variables=False) as tape:
            tape.watch(values)
            return tape, program.differentiable(forward())

    def pull_back(tape, output):
        gradients = tape.gradient(output, values, output_gradients=grad)
        if None in gradients:
            raise NotApplicable("has no gradient")
        return [tf.convert_to_tensor(gradient) for gradient in gradients]  # dense, as everyone's

    tape, output = record(persistent=True)
    grad = tf.constant(_to_numpy(cotangent(output.shape, dtype)))
    if mode == TRAINING:
        return lambda: pull_back(*record(persistent=False)), to_torch
    return lambda: pull_back(tape, output), to_torch


def _jax(program: Program, mode: str, dtype: str):
    import jax

    # JAX's default is 32 bits, indices included: they are narrowed before the clock starts.
    jax.config.update("jax_enable_x64", dtype == "float64")
    values, constants = _converted(program, lambda tensor: jax.numpy.asarray(_to_numpy(tensor)))

    def to_torch(array):
        return _from_numpy(array.__array__())

    forward = jax.jit(program.function)
    if mode == FORWARD:
        return lambda: jax.block_until_ready(forward(*values, *constants)), to_torch

    def outputs_and_gradients(grad, values, constants):
        output, pull_back = jax.vjp(lambda *v: program.differentiable(program.function(*v, *constants)), *values)
        return output, pull_back(grad)

    def gradients(grad, values, constants):
        return outputs_and_gradients(grad, values, constants)[1]  # XLA drops the forward pass

    shape = program.differentiable(forward(*values, *constants)).shape
    grad = jax.numpy.asarray(_to_numpy(cotangent(shape, dtype)))
    training, backward = jax.jit(outputs_and_gradients), jax.jit(gradients)
    if mode == TRAINING:
        return lambda: jax.block_until_ready(training(grad, values, constants))[1], to_torch
    return lambda: jax.block_until_ready(backward(grad, values, constants)), to_torch


def _numpy(program: Program, mode: str, dtype: str):
    values, constants = _converted(program, _to_numpy)
    return partial(program.function, *values, *constants), _from_numpy


_FRAMEWORKS = {"tensorflow": _tensorflow, "jax": _jax, "scipy": _numpy, "numpy": _numpy}
_MODES = {
    "tensorflow": (FORWARD, BACKWARD, TRAINING),
    "jax": (FORWARD, BACKWARD, TRAINING),
    "scipy": (FORWARD,),
    "numpy": (FORWARD,),
}


def _converted(program: Program, convert: Callable) -> tuple[tuple, tuple]:
    return tree_map_only(torch.Tensor, convert, (tuple(program.values), tuple(program.constants)))


def _to_numpy(tensor: torch.Tensor):
    if tensor.dtype != torch.bfloat16:
        return tensor.numpy()
    import ml_dtypes  # comes with TensorFlow and JAX

    return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)


def _from_numpy(array) -> torch.Tensor:
    if isinstance(array, torch.Tensor):
        return array
    array = array if array.flags.writeable else array.copy()
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)
