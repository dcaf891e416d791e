"""Methods of a room under the name that they have on the database itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

Room = TypeVar("Room")
Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


def forward(
    room: str, method: Callable[Concatenate[Room, Parameters], Answer]
) -> Callable[Concatenate[Any, Parameters], Answer]:
    """A method of `Database` that calls the one of its room, with the same parameters."""

    def call(database: Any, /, *arguments: Parameters.args, **named: Parameters.kwargs) -> Answer:
        return method(getattr(database, room), *arguments, **named)

    update_wrapper(call, method)
    call.__doc__ = f"The same as `db.{room}.{method.__name__}`."
    return call
