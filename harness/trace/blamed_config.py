"""Which config a kernel had when it failed: noted on the exception as it leaves Helion.

Owns that note and the wording of configs. The note travels with the exception, because the submission may catch one
and raise another. It decides nothing: it is there for the author to read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

MAX_CONFIG = 300
_NOTE = "_harness_blamed_config"
# Keys that an author expects to see, whatever their value.
_ALWAYS = ("block_sizes", "num_warps", "num_stages")


def blaming(find_config: Callable[..., tuple[str, object]], method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `method` with a note on each exception that leaves it; the note of the innermost call stays.

    Args:
        find_config: told the method's arguments, returns the kernel's name and its config, None if it has none.
        method: one of Helion's that compiles or calls a kernel.
    """

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except BaseException as error:
            if not hasattr(error, _NOTE):
                name, config = find_config(*args, **kwargs)
                setattr(error, _NOTE, _described(name, config))
            raise

    return wrapper


def blamed_config(error: BaseException) -> str:
    """Return the kernel and config noted on an error or on what caused it; an empty text if there are none."""
    return next((getattr(cause, _NOTE) for cause in causes(error) if hasattr(cause, _NOTE)), "")


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what it was raised from, and so on."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__


def copyable_config(config: Any, normalize: Callable[[Any], object]) -> str:
    """Return a config as an author can copy it: without the keys that Helion would add by itself.

    Args:
        config: the whole config.
        normalize: adds to a config, in place, what Helion takes for the keys that it lacks.
    """
    kept = {key: value for key, value in config.config.items() if key in _ALWAYS}
    filled = type(config)(**kept)
    normalize(filled)
    kept |= {key: value for key, value in config.config.items() if filled.config.get(key) != value}
    return repr(type(config)(**kept))


def _described(name: str, config: object) -> str:
    if config is None:
        return f"kernel {name}, without a config"
    text = repr(config)
    return f"kernel {name}, {text if len(text) <= MAX_CONFIG else text[: MAX_CONFIG - 3] + '...'}"
