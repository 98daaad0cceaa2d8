"""The C library, loaded through ctypes: prototypes, errors, arrays on memory of the library."""
import ctypes
import os
import pathlib
import threading
from typing import Any, Callable, Optional, Tuple

import numpy as np

from . import _structs as s

_P = ctypes.c_void_p
_D = ctypes.c_double
_I = ctypes.c_int32
_L = ctypes.c_int64
_S = ctypes.c_char_p
_B = ctypes.c_bool


class Error(Exception):
    """What the library refuses, with its message: what is wrong and what was expected."""


class InputError(Error, ValueError):
    """Invalid input: a scene, a file, an option."""


class NotFiniteError(Error, ArithmeticError):
    """A step led to infinite or undefined positions or velocities. The state is as it was before."""


def _load() -> ctypes.CDLL:
    path = pathlib.Path(__file__).with_name("_drystone.so")
    if not path.exists():
        raise ImportError(f"{path} is missing: build the package with 'make wheel', or import it from the build folder")
    return ctypes.CDLL(str(path))


library = _load()

# name: (result, arguments)
_PROTOTYPES = {
    "ds_version": (_S, []),
    "dsb_layouts": (_P, [_P]),
    "dsb_free": (None, [_P]),
    # scenes
    "dsb_scene_read": (_P, [_S, ctypes.c_size_t, _S, _S, _S, _I, _P, _P]),
    "ds_scene_destroy": (None, [_P]),
    "ds_scene_set": (_P, [_S, ctypes.c_size_t, _S, ctypes.POINTER(_S), _I, _P]),
    "ds_generate": (_P, [_S, _P]),
    "ds_generators": (_P, [_P]),
    "ds_scene_body_count": (_I, [_P]),
    "ds_scene_find_body": (s.ds_body_id, [_P, _S]),
    "ds_body_name": (_S, [_P, s.ds_body_id]),
    "ds_body_get_kind": (_I, [_P, s.ds_body_id]),
    "ds_body_material": (s.ds_material_id, [_P, s.ds_body_id]),
    "ds_body_mass": (s.ds_mass, [_P, s.ds_body_id]),
    "ds_body_inertia": (s.ds_vec3, [_P, s.ds_body_id]),
    "ds_body_radius": (_D, [_P, s.ds_body_id]),
    "ds_body_first_reduced": (_I, [_P, s.ds_body_id]),
    "ds_scene_reduced_count": (_I, [_P]),
    "ds_scene_gravity": (s.ds_vec3, [_P]),
    "ds_scene_change_gravity": (_I, [_P, s.ds_vec3, _P]),
    "ds_scene_material_count": (_I, [_P]),
    "ds_material_name": (_S, [_P, s.ds_material_id]),
    "ds_scene_material": (s.ds_material_def, [_P, s.ds_material_id]),
    "ds_scene_change_material": (_I, [_P, s.ds_material_id, _P, _P]),
    "ds_scene_joint_count": (_I, [_P]),
    "ds_scene_joint": (s.ds_joint_id, [_P, _I]),
    "ds_joint_get_def": (s.ds_joint_def, [_P, s.ds_joint_id]),
    "ds_joint_kind_name": (_S, [_I]),
    "ds_scene_interface_count": (_I, [_P]),
    "ds_scene_get_interface": (s.ds_interface_def, [_P, _I]),
    # options
    "ds_default_options": (s.ds_options, []),
    "ds_options_check": (_I, [_P, _P]),
    "ds_method_named": (_I, [_S]),
    "ds_method_name": (_S, [_I]),
    "ds_restitution_named": (_I, [_S]),
    "ds_restitution_name": (_S, [_I]),
    # states
    "ds_state_create": (_P, [_P]),
    "ds_state_copy": (_P, [_P]),
    "ds_state_assign": (_I, [_P, _P]),
    "ds_state_destroy": (None, [_P]),
    "ds_state_time": (_D, [_P]),
    "ds_state_hash": (ctypes.c_uint64, [_P]),
    "ds_state_set_pose": (None, [_P, _P, s.ds_body_id, s.ds_pose]),
    "ds_state_set_velocity": (None, [_P, s.ds_body_id, s.ds_vec3, s.ds_vec3]),
    "ds_state_set_reduced": (None, [_P, s.ds_body_id, _P, _P]),
    "ds_state_reduced": (_P, [_P, s.ds_body_id, _P]),
    "ds_state_apply_force": (None, [_P, s.ds_body_id, s.ds_vec3, s.ds_vec3]),
    "ds_state_save": (_P, [_P, _P]),
    "ds_state_load": (_I, [_P, _P, ctypes.c_size_t, _P]),
    "ds_state_energy": (s.ds_energy, [_P, _P]),
    "ds_state_momentum": (s.ds_momentum, [_P, _P]),
    "ds_state_contacts": (_P, [_P, _P]),
    "ds_state_joint": (s.ds_joint_place, [_P, _P, s.ds_joint_id]),
    "ds_state_ray_cast": (s.ds_ray_hit, [_P, _P, s.ds_vec3, s.ds_vec3, _D]),
    "ds_state_deepest_overlap": (_I, [_P, _P, _P, _P, _P]),
    "dsb_state_memory": (None, [_P, _P]),
    "dsb_state_step": (_L, [_P]),
    "dsb_state_take_contacts": (_P, [_P]),
    "dsb_state_poses": (None, [_P, _P, _P]),
    # hands
    "ds_default_hand": (s.ds_hand_def, []),
    "ds_state_grab": (s.ds_hand_id, [_P, _P, _P]),
    "ds_state_move_hand_at": (None, [_P, s.ds_hand_id, s.ds_pose, s.ds_vec3, s.ds_vec3]),
    "ds_state_release": (None, [_P, s.ds_hand_id]),
    "ds_state_hand": (s.ds_hand, [_P, s.ds_hand_id]),
    "ds_state_next_hand": (s.ds_hand_id, [_P, s.ds_hand_id]),
    # steps
    "ds_stepper_create": (_P, [_I]),
    "ds_stepper_destroy": (None, [_P]),
    "ds_stepper_stop": (None, [_P]),
    "ds_stepper_islands": (_P, [_P, _P]),
    "dsb_steps": (_I, [_P, _P, _P, _P, _P, _L, _P]),
    "dsb_many_create": (_P, [_I]),
    "dsb_many_destroy": (None, [_P]),
    "dsb_batch_step": (None, [_P]),
    "dsb_batch_look": (None, [_P]),
    # recordings
    "ds_recorder_create": (_P, [_S, _S, _P, _P, _P]),
    "ds_recorder_append": (_I, [_P, _P, _P, _P, _P]),
    "ds_recorder_close": (_I, [_P, _P]),
    "ds_recording_open": (_P, [_S, _P]),
    "ds_recording_close": (None, [_P]),
    "ds_recording_scene": (_P, [_P]),
    "ds_recording_scene_text": (_S, [_P]),
    "ds_recording_settings": (_P, [_P]),
    "ds_recording_frame_count": (_I, [_P]),
    "ds_recording_read": (_I, [_P, _P, _I, _P]),
    "ds_recording_find": (_I, [_P, _D]),
    "ds_recording_time": (_D, [_P, _I]),
    "ds_recording_has_state": (_B, [_P]),
    "ds_recording_read_state": (_I, [_P, _P, _P]),
    "ds_recording_closed": (_B, [_P]),
    "ds_recording_version": (_S, [_P]),
    # contact problems
    "ds_default_solve_options": (s.ds_solve_options, []),
    "ds_problem_solve": (_I, [_P, _P, _P, _P, _P, _P, _P]),
    "ds_problem_check": (_I, [_P, _P, _P, _P]),
    "ds_problem_rank": (_I, [_P, _P, _P]),
    "ds_problem_file_read": (_P, [_S, _P]),
    "ds_problem_file_free": (None, [_P]),
    "ds_problem_file_write": (_I, [_S, _P, _P, _S, _P]),
    # assemblies
    "ds_default_assembly_options": (s.ds_assembly_options, []),
    "ds_assembly_of_scene": (_P, [_P, _P, _P, _P]),
    "ds_assembly_read_compas": (_P, [_S, ctypes.c_size_t, _S, _P, _P]),
    "ds_assembly_is_compas": (_B, [_S, ctypes.c_size_t]),
    "ds_assembly_read_bricks": (_P, [_S, ctypes.c_size_t, _S, _P, _P]),
    "ds_assembly_is_bricks": (_B, [_S, ctypes.c_size_t]),
    "ds_assembly_read_obj": (_P, [_S, ctypes.c_size_t, _S, _P, _P]),
    "ds_assembly_scene": (_P, [_P, _S, _P]),
    "ds_assembly_without": (_P, [_P, _I]),
    "ds_assembly_free": (None, [_P]),
    "ds_default_stand_options": (s.ds_stand_options, []),
    "ds_stand_check": (_I, [_P, _P, _P, _P]),
    "ds_stand_free": (None, [_P]),
    "ds_stand_multiplier": (_I, [_P, _P, _P, _P, _P]),
    "ds_stand_push": (_I, [_P, _P, s.ds_vec3, _P]),
    "ds_multiplier_free": (None, [_P]),
    "ds_stand_least_mu": (_I, [_P, _P, _P]),
    "ds_stand_range": (_I, [_P, _P, _I, _P]),
    "ds_interface_thrust": (s.ds_thrust, [_P, _P, _I]),
    "ds_support_reaction": (None, [_P, _P, _P, _P, _I]),
    "ds_verdict_name": (_S, [_I]),
    "ds_stand_write_certificate": (_B, [_P, _P, _P]),
}
for _name, (_result, _arguments) in _PROTOTYPES.items():
    _function = getattr(library, _name)
    _function.restype = _result
    _function.argtypes = _arguments

hdf5 = threading.RLock()
"""HDF5 serves one thread at a time. A scene may read body files with it."""


def _one_at_a_time(function: Any) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        with hdf5:
            return function(*arguments)
    return call


for _name in _PROTOTYPES:
    if _name.startswith(("ds_recorder_", "ds_recording_", "ds_problem_file_")) or _name == "dsb_scene_read":
        setattr(library, _name, _one_at_a_time(getattr(library, _name)))


class Message:
    """A ds_error, and the exception of it."""

    def __init__(self) -> None:
        self.error = s.ds_error()

    def __call__(self) -> Any:
        return ctypes.byref(self.error)

    @property
    def text(self) -> str:
        return self.error.message.decode("utf-8", "replace")

    def exception(self, status: int = s.ds_status.DS_ERROR_INPUT) -> Exception:
        if status == s.ds_status.DS_ERROR_MEMORY:
            return MemoryError(self.text or "out of memory")
        if status == s.ds_status.DS_ERROR_NOT_FINITE:
            return NotFiniteError(self.text or "the step led to positions or velocities that are not finite")
        return InputError(self.text or "out of memory")

    def check(self, status: int) -> None:
        """Raises unless the status is DS_OK."""
        if status != s.ds_status.DS_OK:
            raise self.exception(status)


class Owner:
    """Calls `release(argument)` when nobody refers to it any more. Arrays refer to it, not to whoever has the arrays."""

    def __init__(self, release: Callable[[Any], Any], argument: Any, *others: Any) -> None:
        self._release, self._argument, self._others = release, argument, others

    def __del__(self) -> None:
        self._release(self._argument)


class _View:
    """Memory of the library, kept as long as arrays refer to it."""

    def __init__(self, address: int, shape: Tuple[int, ...], kind: str, owner: object, writable: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": np.dtype(kind).str, "data": (address, not writable),
        }


def view(address: Optional[int], shape: Tuple[int, ...], kind: str, owner: object, writable: bool = False) -> np.ndarray:
    """An array on memory of the library, without a copy. The array keeps `owner` alive."""
    if not address or 0 in shape:
        return np.zeros(shape, kind)
    return np.asarray(_View(address, shape, kind, owner, writable))


def table(address: Optional[int], count: int, kind: type, owner: object) -> np.ndarray:
    """A structured array on an array of structs, without a copy."""
    dtype = np.dtype(kind)
    if not address or count == 0:
        return np.zeros(0, dtype)
    raw = view(address, (count * dtype.itemsize,), "u1", owner)
    return raw.view(dtype)


def column(structs: np.ndarray, name: str, width: int) -> np.ndarray:
    """A member of a structured array that consists of `width` doubles, as rows of numbers, without a copy."""
    if len(structs) == 0:
        return np.zeros((0, width))
    return np.ndarray((len(structs), width), "f8", structs, structs.dtype.fields[name][1], (structs.dtype.itemsize, 8))


def vector(value: Any, what: str = "vector") -> s.ds_vec3:
    """Three finite numbers."""
    numbers = np.asarray(value, dtype=float).reshape(-1)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InputError(f"{what}: three finite numbers were expected, not {value!r}")
    return s.ds_vec3(*numbers.tolist())


def pose(position: Any, rotation: Any = (1, 0, 0, 0)) -> s.ds_pose:
    """A frame: position and quaternion w x y z, which is made of length 1."""
    turn = np.asarray(rotation, dtype=float).reshape(-1)
    if turn.shape != (4,) or not np.isfinite(turn).all() or not np.linalg.norm(turn) > 0:
        raise InputError(f"rotation: a quaternion w, x, y, z was expected, not {rotation!r}")
    return s.ds_pose(vector(position, "position"), s.ds_quat(*(turn / np.linalg.norm(turn)).tolist()))


def numbers(v: Any) -> np.ndarray:
    """A ds_vec3 or ds_pose as an array."""
    return np.frombuffer(bytes(v), dtype=float)


def text_of(address: Optional[int], message: Message) -> str:
    """Text that the library has allocated; raises where there is none."""
    if not address:
        raise message.exception()
    text = ctypes.string_at(address).decode("utf-8")
    library.dsb_free(address)
    return text


def cache_folder() -> Optional[str]:
    """Where built solids and deformables are kept, as for the program; None: nowhere."""
    own, xdg, home = (os.environ.get(name) or None for name in ("DRYSTONE_CACHE", "XDG_CACHE_HOME", "HOME"))
    path = own or (os.path.join(xdg, "drystone") if xdg and xdg.startswith("/") else None)
    path = path or (os.path.join(home, ".cache", "drystone") if home else None)
    if path is None:
        return None
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        if own:
            raise
        return None
    return path
