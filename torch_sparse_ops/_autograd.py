"""How an operator of this package becomes differentiable: the only file that touches torch's private names.

``torch.library.register_autograd`` serves backward only: its operators fail under ``torch.func.grad`` and silently lose
their tangents in forward mode. Instead, the kernel registered here at the Autograd dispatch key applies a single-level
autograd function (the block from which functorch builds its own ``torch.autograd.Function`` support), whose forward
calls the operator again below autograd. Under a functorch transform the dispatcher peels one level a visit, so
one level is what is needed; functorch only asks that it be announced. A torch without the private names gets
``register_autograd``, and a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad


def _in_forward_mode() -> bool:
    return forward_ad._current_level >= 0


try:
    from torch._functorch.utils import enable_single_level_autograd_function
    from torch.autograd.forward_ad import _set_fwd_grad_enabled
    from torch.autograd.function import _SingleLevelFunction

    _below_autograd = torch._C._AutoDispatchBelowAutograd
    _in_functorch = torch._C._are_functorch_transforms_active
    _in_forward_mode()
    _EVERY_MODE = True
except (ImportError, AttributeError) as error:
    _EVERY_MODE = False
    warnings.warn(
        f"torch_sparse_ops: torch {torch.__version__} no longer has a private name that derivatives rely on ({error}). "
        "Backward and double backward work; lost are forward-mode derivatives (tangents are dropped) and derivatives "
        "by torch.func (grad, vjp, jvp, jacrev, jacfwd, hessian). A newer torch_sparse_ops may restore them.",
        stacklevel=2,
    )

LIBRARY = torch.library.Library("torch_sparse_ops", "FRAGMENT")


def in_functorch() -> bool:
    """Whether a torch.func transform is at work."""
    return _EVERY_MODE and _in_functorch()


def make_differentiable(
    op: torch._ops.OpOverload,
    argument: int,
    *,
    save: Callable[..., None],
    backward: Callable[..., Any],
    jvp: Callable[..., Any],
) -> None:
    """Registers the derivatives of ``op``, which is linear in the argument at position ``argument``.

    That argument is a tensor or a list of tensors. ``save(ctx, outputs, *arguments)`` keeps what the others need;
    ``backward(ctx, *cotangents)`` returns the argument's cotangent, ``jvp(ctx, tangent)`` the outputs' tangents (None
    for those that are not differentiable), with None among a list's tangents where there is none. Each must call
    differentiable operators only, so that derivatives of every order follow.
    """
    if not _EVERY_MODE:
        return _make_backward_only(op, argument, save, backward)
    schema = op._schema.arguments
    positional = sum(not a.kwarg_only for a in schema)
    keywords = tuple(a.name for a in schema[positional:])
    defaults = tuple(a.default_value for a in schema)

    def call(arguments: Sequence[Any]) -> Any:
        return op(*arguments[:positional], **dict(zip(keywords, arguments[positional:])))

    class Node(_SingleLevelFunction):
        # Tensors inside lists are invisible to apply: the differentiable ones are its last arguments, one by one.
        @staticmethod
        def forward(ctx: Any, arguments: list[Any], is_list: bool, *tensors: torch.Tensor) -> Any:
            arguments[argument] = list(tensors) if is_list else tensors[0]
            ctx.is_list = is_list
            if _in_functorch():  # forward runs in no-grad mode, which must not leak into the outer transforms
                with torch.enable_grad(), _set_fwd_grad_enabled(True), _below_autograd():
                    outputs = call(arguments)
            else:
                with _below_autograd():
                    outputs = call(arguments)
            save(ctx, outputs, *arguments)
            return outputs

        @staticmethod
        def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
            result = backward(ctx, *cotangents)
            return (None, None, *result) if ctx.is_list else (None, None, result)

        @staticmethod
        def jvp(ctx: Any, _arguments: None, _is_list: None, *tangents: torch.Tensor) -> Any:
            with _set_fwd_grad_enabled(True):  # off here, which would drop the tangents of outer transforms
                return jvp(ctx, list(tangents) if ctx.is_list else tangents[0])

    apply: Callable[..., Any] = Node.apply  # type: ignore[attr-defined]

    def differentiate(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        arguments = [*args, *defaults[len(args) :]]
        for name, value in kwargs.items():
            arguments[positional + keywords.index(name)] = value
        target = arguments[argument]
        is_list = isinstance(target, (list, tuple))
        return apply(arguments, is_list, *(target if is_list else (target,)))

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if _in_functorch():
            with enable_single_level_autograd_function():
                return differentiate(args, kwargs)
        if _in_forward_mode() or (torch.is_grad_enabled() and _requires_grad(args[argument])):
            return differentiate(args, kwargs)
        with _below_autograd():
            return op(*args, **kwargs)

    LIBRARY.impl(op.name().split("::")[1], kernel, "Autograd")


def _requires_grad(argument: Any) -> bool:
    if isinstance(argument, (list, tuple)):
        return any(tensor.requires_grad for tensor in argument)
    return argument is not None and argument.requires_grad


def _make_backward_only(
    op: torch._ops.OpOverload, argument: int, save: Callable[..., None], backward: Callable[..., Any]
) -> None:
    """By the public API, which wants a None in the place of every other argument, and of every tensor in a list."""

    def setup_context(ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Mapping[str, Any] = {}) -> None:
        save(ctx, output, *inputs, *keyword_only_inputs.values())

    def gradients(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        result, needed = backward(ctx, *cotangents), ctx.needs_input_grad
        filled = [[None] * len(n) if isinstance(n, list) else None for n in needed]
        filled[argument] = list(result) if isinstance(needed[argument], list) else result
        return tuple(filled)

    torch.library.register_autograd(op.name(), gradients, setup_context=setup_context, lib=LIBRARY)
