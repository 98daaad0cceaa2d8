"""Whether an assembly of blocks stands, with a proof of every verdict: docs/stand.md."""
import ctypes
import os
import tempfile
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as s
from ._library import InputError, Message, Owner, library, numbers, table, text_of, vector, view
from .scene import Scene, Source
from .simulation import Simulation, State

_REASONS = {
    s.ds_stand_reason.DS_REASON_NONE: "",
    s.ds_stand_reason.DS_REASON_FRICTIONLESS: "an equilibrium without friction exists",
    s.ds_stand_reason.DS_REASON_PLANAR: "friction is bounded from below in every solution, for motions in its plane",
    s.ds_stand_reason.DS_REASON_MOVES: "a moving solution was found, too",
    s.ds_stand_reason.DS_REASON_OPEN: "moving solutions are not excluded",
}


class Verdict:
    """The answer of `Assembly.check`. True where an equilibrium exists (STANDS or CAN STAND)."""

    def __init__(self, assembly: "Assembly", struct: s.ds_stand) -> None:
        self._assembly, self._struct = assembly, struct
        owner = Owner(library.ds_stand_free, ctypes.pointer(struct))
        self._owner = owner
        self.verdict: str = library.ds_verdict_name(struct.verdict).decode()
        """"STANDS", "CAN STAND", "FALLS" or "UNDECIDED"."""
        self.reason: str = _REASONS.get(struct.reason, "")
        self.margin: float = struct.margin
        """Normal force that every interface could lose, in mean weights of a block."""
        self.residual: float = struct.residual
        points, blocks = assembly._struct.point_count, assembly._struct.block_count
        self.normal_forces = view(struct.normal, (points,), "f8", owner) if struct.normal else None
        """N per point, of an equilibrium; None where there is none."""
        self.friction_forces = view(struct.friction, (points, 3), "f8", owner) if struct.friction else None
        """N per point, P x 3."""
        self.mechanism = view(struct.mechanism, (blocks, 6), "f8", owner) if struct.mechanism else None
        """FALLS: velocity of the point at the origin, then angular velocity, per block."""

    def __bool__(self) -> bool:
        return self.verdict in ("STANDS", "CAN STAND")

    def thrust(self, interface: int) -> s.ds_thrust:
        """The resultant at an interface: `force`, `center` of pressure, `section`."""
        if self.normal_forces is None:
            raise InputError(f"there are no forces: the verdict is {self.verdict}")
        self._assembly._interface(interface)
        return library.ds_interface_thrust(self._assembly._handle, ctypes.byref(self._struct), interface)

    def reaction(self, support: int) -> np.ndarray:
        """Force (N) and torque about its centre of mass (N m) that a support takes: 6 numbers."""
        if self.normal_forces is None:
            raise InputError(f"there are no forces: the verdict is {self.verdict}")
        force, torque = s.ds_vec3(), s.ds_vec3()
        library.ds_support_reaction(ctypes.byref(force), ctypes.byref(torque), self._assembly._handle,
                                    ctypes.byref(self._struct), self._assembly._block(support))
        return np.concatenate([numbers(force), numbers(torque)])

    def certificate(self) -> str:
        """The proof as text, for `drystone verify` and `scripts/verify-stand.py`."""
        libc = ctypes.CDLL(None)
        libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
        libc.fclose.argtypes = [ctypes.c_void_p]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "certificate")
            file = libc.fopen(os.fsencode(path), b"w")
            if not file:
                raise OSError(f"{path}: cannot be written")
            ok = library.ds_stand_write_certificate(file, ctypes.byref(self._struct), self._assembly._handle)
            if libc.fclose(file) != 0 or not ok:
                raise OSError(f"{path}: cannot be written")
            with open(path, encoding="utf-8") as written:
                return written.read()

    def __repr__(self) -> str:
        return f"<{self.verdict}{': ' + self.reason if self.reason else ''}>"


class Multiplier:
    """Loads up to `stands` are proven to stand, above `falls` to fall; up to `equilibrium` an equilibrium was found."""

    def __init__(self, struct: s.ds_multiplier) -> None:
        self.stands: float = struct.stands
        self.equilibrium: float = struct.equilibrium
        self.falls: float = struct.falls

    def __repr__(self) -> str:
        return f"<Multiplier: stands to {self.stands:.6g}, falls above {self.falls:.6g}>"


class Assembly:
    """Blocks that touch in faces: of a scene in a state, or of a file: COMPAS, StableLego's bricks, OBJ with a group per block."""

    def __init__(self, source: Union[Scene, Simulation, State, Source], *, supports: Sequence[int] = (), **options: Any) -> None:
        self._handle: Optional[int] = None
        settings, message = library.ds_default_assembly_options(), Message()
        for name, value in options.items():
            if name not in ("tolerance", "mu", "density"):
                raise InputError(f"there is no option {name!r}; known are tolerance, mu, density, supports")
            setattr(settings, name, value)
        fixed = np.ascontiguousarray(list(supports), dtype=np.int32)
        settings.supports, settings.support_count = fixed.ctypes.data, len(fixed)
        text, read = _blocks(source)
        if read is not None:
            name = os.fsencode(os.fspath(source))  # type: ignore[arg-type]
            self._handle = read(text, len(text), name, ctypes.byref(settings), message())
        else:
            state = _state(source)
            with state._use():
                self._handle = library.ds_assembly_of_scene(state.scene._handle, state._handle, ctypes.byref(settings), message())
        if not self._handle:
            raise message.exception()
        self._take(self._handle)

    def _take(self, handle: int) -> None:
        self._handle = handle
        self._owner = owner = Owner(library.ds_assembly_free, handle)
        self._struct = s.ds_assembly.from_address(handle)
        self.blocks = table(self._struct.blocks, self._struct.block_count, s.ds_block, owner)
        """Structured array of `ds_block`."""
        self.interfaces = table(self._struct.interfaces, self._struct.interface_count, s.ds_interface, owner)
        """Structured array of `ds_interface`."""
        self.points = view(self._struct.points, (self._struct.point_count, 3), "f8", owner)
        """Corners of all interfaces, m, P x 3."""

    def _block(self, index: int) -> int:
        if not 0 <= index < self._struct.block_count:
            raise InputError(f"there is no block {index}; the assembly has {self._struct.block_count}")
        return index

    def _interface(self, index: int) -> int:
        if not 0 <= index < self._struct.interface_count:
            raise InputError(f"there is no interface {index}; the assembly has {self._struct.interface_count}")
        return index

    def check(self, **options: bool) -> Verdict:
        """Whether it stands. Options: `margin`, `planar`, `search`, all true by default."""
        settings, stand, message = library.ds_default_stand_options(), s.ds_stand(), Message()
        for name, value in options.items():
            if name not in dict(settings._fields_):
                raise InputError(f"there is no option {name!r}; known are {', '.join(dict(settings._fields_))}")
            setattr(settings, name, value)
        message.check(library.ds_stand_check(ctypes.byref(stand), self._handle, ctypes.byref(settings), message()))
        return Verdict(self, stand)

    def push(self, direction: Sequence[float]) -> Multiplier:
        """Horizontal loads in units of weight: an acceleration in g, or the tangent of a tilt."""
        result, message = s.ds_multiplier(), Message()
        message.check(library.ds_stand_push(ctypes.byref(result), self._handle, vector(direction, "direction"), message()))
        found = Multiplier(result)
        library.ds_multiplier_free(ctypes.byref(result))
        return found

    def load(self, forces: Any, torques: Any = None) -> Multiplier:
        """Loads lambda times forces (blocks x 3, N) and torques besides the weight."""
        rows = [np.ascontiguousarray(x, dtype=float).reshape(self._struct.block_count, 3) if x is not None else None
                for x in (forces, torques)]
        result, message = s.ds_multiplier(), Message()
        message.check(library.ds_stand_multiplier(ctypes.byref(result), self._handle, rows[0].ctypes.data,
                                                  rows[1].ctypes.data if rows[1] is not None else None, message()))
        found = Multiplier(result)
        library.ds_multiplier_free(ctypes.byref(result))
        return found

    def least_mu(self) -> s.ds_least_mu:
        """The least friction coefficient: no equilibrium below `falls`, one at `equilibrium`."""
        result, message = s.ds_least_mu(), Message()
        message.check(library.ds_stand_least_mu(ctypes.byref(result), self._handle, message()))
        return result

    def range(self, interface: int) -> s.ds_force_range:
        """Normal force of an interface over all equilibria: `low` to `high`, N."""
        result, message = s.ds_force_range(), Message()
        message.check(library.ds_stand_range(ctypes.byref(result), self._handle, self._interface(interface), message()))
        return result

    def without(self, block: int) -> "Assembly":
        """What is left when a block is pulled out."""
        handle = library.ds_assembly_without(self._handle, self._block(block))
        if not handle:
            raise MemoryError("out of memory")
        found = Assembly.__new__(Assembly)
        found._take(handle)
        return found

    def scene(self, name: str = "assembly") -> Scene:
        """The blocks of a file as a scene, with the interfaces that were given or found, to simulate them."""
        message = Message()
        return Scene(text_of(library.ds_assembly_scene(self._handle, name.encode(), message()), message))

    @property
    def names(self) -> List[str]:
        """Names of the blocks."""
        return [name.tobytes().split(b"\0")[0].decode("utf-8", "replace") for name in self.blocks["name"]]

    def __repr__(self) -> str:
        return f"<Assembly of {self._struct.block_count} blocks and {self._struct.interface_count} interfaces>"


def _blocks(source: Any) -> Tuple[bytes, Optional[Callable[..., Any]]]:
    """Text of a file of blocks, and the function that reads it; None where the source is something else."""
    if not isinstance(source, (str, os.PathLike)) or not os.path.isfile(source):
        return b"", None
    with open(source, "rb") as file:
        text = file.read()
    if os.fspath(source).lower().endswith(".obj"):
        return text, library.ds_assembly_read_obj
    if library.ds_assembly_is_compas(text, len(text)):
        return text, library.ds_assembly_read_compas
    return text, library.ds_assembly_read_bricks if library.ds_assembly_is_bricks(text, len(text)) else None


def _state(source: Any) -> State:
    if isinstance(source, State):
        return source
    if isinstance(source, Simulation):
        return source.state
    return State(source if isinstance(source, Scene) else Scene(source))


def stand(source: Union[Scene, Simulation, State, Source], **options: Any) -> Verdict:
    """Whether it stands: `stand("card-house:levels=3")`. Options of `Assembly` and of `check` are taken."""
    names = {name for name, *_ in s.ds_stand_options._fields_}
    checks = {name: options.pop(name) for name in list(options) if name in names}
    return Assembly(source, **options).check(**checks)
