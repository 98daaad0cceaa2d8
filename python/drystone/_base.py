"""What the generated structs share."""
import ctypes
from typing import Any, Dict


def _plain(value: Any) -> Any:
    """A member as Python shows it: structs of x, y, z as tuples, text as str."""
    if isinstance(value, Struct):
        names = [name for name, *_ in value._fields_]
        if names in (["x", "y", "z"], ["w", "x", "y", "z"]):
            return tuple(getattr(value, name) for name in names)
        return value.as_dict()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, ctypes.Array):
        return [_plain(item) for item in value]
    return value


class Struct(ctypes.Structure):
    """A C struct by value. `as_dict` copies it to plain Python values."""

    def as_dict(self) -> Dict[str, Any]:
        """All members as numbers, tuples, texts and dicts."""
        return {name: _plain(getattr(self, name)) for name, *_ in self._fields_}

    def copy(self) -> "Struct":
        """A copy of its own."""
        return type(self).from_buffer_copy(self)

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]
