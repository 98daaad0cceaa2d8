"""Scenes: from files, generators, text, or built of Python objects."""
import ctypes
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _structs as s
from ._library import InputError, Message, cache_folder, library, numbers, text_of, vector

_CHOICES = {
    "integrator": [m.name.split("_")[-1].lower() for m in s.ds_integrator],
    "impacts": [m.name.split("_")[-1].lower() for m in s.ds_impact_order],
    "face_pressure": [m.name.split("_")[-1].lower() for m in s.ds_face_pressure],
    "metric": [m.name.split("_")[-1].lower() for m in s.ds_metric],
}
_NAMED = {"method": ("ds_method_named", "ds_method_name"), "restitution_law": ("ds_restitution_named", "ds_restitution_name")}
BODY_KINDS = ("dynamic", "static", "kinematic")
Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Options:
    """Options of a step, as in scene files: `step`, `tolerance`, `method`, `integrator` and so on.

    Choices are names: `options.method = "gauss-seidel"`. `dir(options)` lists all; `ds_options` in `types.h` describes
    them. Every change is checked at once, and refused with the library's message.
    """

    __slots__ = ("struct",)
    struct: s.ds_options

    def __init__(self, **values: Any) -> None:
        object.__setattr__(self, "struct", library.ds_default_options())
        for name, value in values.items():
            setattr(self, name, value)

    @classmethod
    def _of(cls, struct: s.ds_options) -> "Options":
        options = cls()
        object.__setattr__(options, "struct", struct.copy())
        return options

    def copy(self) -> "Options":
        """Options of their own with the same values."""
        return Options._of(self.struct)

    def __dir__(self) -> List[str]:
        return sorted([name for name, *_ in s.ds_options._fields_] + ["copy", "as_dict"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not any(name == member for member, *_ in s.ds_options._fields_):
            raise AttributeError(f"there is no option {name!r}; known are {', '.join(dir(self))}")
        value = getattr(self.struct, name)
        if name in _CHOICES:
            return _CHOICES[name][value]
        if name in _NAMED:
            return getattr(library, _NAMED[name][1])(value).decode()
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(self, name)  # raises where there is none
        known: Optional[int] = None
        if name in _CHOICES:
            known = _CHOICES[name].index(value) if value in _CHOICES[name] else -1
        elif name in _NAMED:
            known = getattr(library, _NAMED[name][0])(str(value).encode())
        if known == -1:
            raise InputError(f"{name}: {value!r} is not known; known are {', '.join(choices(name))}")
        changed, message = self.struct.copy(), Message()
        setattr(changed, name, value if known is None else known)
        message.check(library.ds_options_check(ctypes.byref(changed), message()))
        object.__setattr__(self, "struct", changed)

    def as_dict(self) -> Dict[str, Any]:
        """All options with their values."""
        return {name: getattr(self, name) for name, *_ in s.ds_options._fields_}

    def __repr__(self) -> str:
        return "Options(" + ", ".join(f"{k}={v!r}" for k, v in self.as_dict().items()) + ")"


def choices(name: str) -> List[str]:
    """Values of an option that has names, such as "method"."""
    if name in _CHOICES:
        return list(_CHOICES[name])
    found: List[str] = []
    while True:
        text = getattr(library, _NAMED[name][1])(len(found))
        if text is None:
            return found
        found.append(text.decode())


def generators() -> Dict[str, Dict[str, Any]]:
    """The generators of scenes: summary and parameters of each, by name."""
    count = ctypes.c_int32()
    address = library.ds_generators(ctypes.byref(count))
    found = {}
    text = lambda p: ctypes.string_at(p).decode() if p else ""  # noqa: E731
    for g in (s.ds_generator * count.value).from_address(address):
        parameters = (s.ds_generator_parameter * g.parameter_count).from_address(g.parameters) if g.parameter_count else ()
        found[text(g.name)] = {
            "summary": text(g.summary),
            "parameters": {
                text(p.name): {"unit": text(p.unit), "summary": text(p.summary), "default": text(p.initial),
                               "range": (p.low, p.high) if p.low <= p.high else None,
                               "choices": text(p.choices).split("|") if p.choices else None}
                for p in parameters
            },
        }
    return found


class Body:
    """A body of a scene. `index` is its row in the arrays of a state."""

    def __init__(self, scene: "Scene", index: int) -> None:
        self.scene, self.index = scene, index
        self._id = s.ds_body_id(index + 1)

    @property
    def name(self) -> str:
        """As in the scene; "" where it has none."""
        return library.ds_body_name(self.scene._handle, self._id).decode()

    @property
    def kind(self) -> str:
        """"dynamic", "static" or "kinematic"."""
        return BODY_KINDS[library.ds_body_get_kind(self.scene._handle, self._id)]

    @property
    def mass(self) -> float:
        """kg; 0 for static and kinematic bodies."""
        return library.ds_body_mass(self.scene._handle, self._id).mass

    @property
    def inertia(self) -> np.ndarray:
        """3 x 3 about the centre of mass, in the body's frame, kg m²."""
        return np.array(library.ds_body_mass(self.scene._handle, self._id).inertia).reshape(3, 3)

    @property
    def principal_inertia(self) -> np.ndarray:
        """Principal moments, kg m²."""
        return numbers(library.ds_body_inertia(self.scene._handle, self._id)).copy()

    @property
    def radius(self) -> float:
        """m: of a ball about the centre of mass that holds the body."""
        return library.ds_body_radius(self.scene._handle, self._id)

    @property
    def material(self) -> str:
        """Name of its material; "" where it has none."""
        scene = self.scene._handle
        return library.ds_material_name(scene, library.ds_body_material(scene, self._id)).decode()

    def __repr__(self) -> str:
        return f"<Body {self.index} {self.name!r}, {self.kind}>"


class Joint:
    """A joint of a scene."""

    def __init__(self, scene: "Scene", index: int) -> None:
        self.scene, self.index = scene, index
        self._id = library.ds_scene_joint(scene._handle, index)
        definition = library.ds_joint_get_def(scene._handle, self._id)
        self.name: str = ctypes.string_at(definition.name).decode() if definition.name else ""
        self.kind: str = library.ds_joint_kind_name(definition.kind).decode()
        self.a = scene.bodies[definition.a.index1 - 1]
        self.b = scene.bodies[definition.b.index1 - 1]

    def __repr__(self) -> str:
        return f"<Joint {self.index} {self.name!r}, {self.kind} of {self.a.name!r} and {self.b.name!r}>"


class Interface:
    """Where two bodies of a scene touch at the start."""

    def __init__(self, scene: "Scene", index: int) -> None:
        self.scene, self.index = scene, index
        definition = library.ds_scene_get_interface(scene._handle, index)
        self.a = scene.bodies[definition.a.index1 - 1]
        self.b = scene.bodies[definition.b.index1 - 1]
        self.normal: np.ndarray = numbers(definition.normal).copy()
        """From a to b, in the world at the start, as it was given."""
        rows = (ctypes.c_double * (3 * definition.point_count)).from_address(definition.points)
        self.points: np.ndarray = np.array(rows).reshape(-1, 3)
        """Its corners in the world at the start, m, P x 3."""
        self.mu: Optional[float] = definition.mu if definition.mu >= 0 else None
        """Friction; None: that of the materials."""

    def __repr__(self) -> str:
        return f"<Interface {self.index} of {self.a.name!r} and {self.b.name!r}, {len(self.points)} points>"


class Scene:
    """Bodies, shapes, materials, joints and interfaces; constant once built, and shared by any number of states.

    `Scene(source)` takes a file, a generator such as "card-house:levels=5", the JSON text of a scene, or the same as a
    dict. `settings` changes values first, as `drystone run --set`: `Scene("card-house", {"materials.card.mu": 0.3})`.
    """

    def __init__(self, source: Source, settings: Optional[Mapping[str, Any]] = None, *, folder: Optional[str] = None,
                 cache: Union[str, bool] = True, threads: int = 0) -> None:
        self._handle: Optional[int] = None
        self.text: str = ""
        if isinstance(source, Mapping):
            text, file = json.dumps(source, allow_nan=False), "scene"
        elif isinstance(source, str) and source.lstrip()[:1] in ("{", "/"):
            is_text = source.lstrip().startswith("{") or source.lstrip().startswith(("//", "/*"))
            text, file = (source, "scene") if is_text else (_read(source), source)
        else:
            file = os.fspath(source)
            text = _read(file) if os.path.exists(file) or file.endswith(".json") else _generate(file)
            if folder is None and os.path.exists(file):
                folder = os.path.dirname(os.path.abspath(file))
        self._read(text, file, settings, folder, cache, threads)

    def _read(self, text: str, file: str, settings: Optional[Mapping[str, Any]], folder: Optional[str],
              cache: Union[str, bool], threads: int) -> None:
        message = Message()
        if settings:
            items = [f"{key}={_setting(value)}".encode() for key, value in settings.items()]
            array = (ctypes.c_char_p * len(items))(*items)
            data = text.encode()
            text = text_of(library.ds_scene_set(data, len(data), file.encode(), array, len(items), message()), message)
        self.text = text
        """The scene as JSON, with all settings."""
        where = cache_folder() if cache is True else cache or None
        run, data = s.ds_run_settings(), text.encode()
        self._handle = library.dsb_scene_read(data, len(data), file.encode(), folder.encode() if folder else None,
                                              where.encode() if where else None, threads, ctypes.byref(run), message())
        if not self._handle:
            raise message.exception()
        self._run = run
        self.name: str = run.name.decode()
        self.time: float = run.time
        """How long the scene asks to be simulated, s."""
        self.options = Options._of(run.options)
        """Step and solver options of the scene."""
        self.bodies = [Body(self, i) for i in range(library.ds_scene_body_count(self._handle))]
        self.joints = [Joint(self, i) for i in range(library.ds_scene_joint_count(self._handle))]
        self.interfaces = [Interface(self, i) for i in range(library.ds_scene_interface_count(self._handle))]
        """Where bodies touch at the start, by the order of their bodies."""

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.ds_scene_destroy(self._handle)
            self._handle = None

    def body(self, name: Union[str, int, Body]) -> Body:
        """A body by its name or index."""
        if isinstance(name, Body):
            if name.scene is not self:
                raise InputError(f"body {name.name!r} is of another scene")
            return name
        if isinstance(name, (int, np.integer)):
            if not -len(self.bodies) <= name < len(self.bodies):
                raise InputError(f"there is no body {name}; the scene has {len(self.bodies)}")
            return self.bodies[name]
        index = library.ds_scene_find_body(self._handle, str(name).encode()).index1
        if index == 0:
            raise InputError(f"there is no body named {name!r}")
        return self.bodies[index - 1]

    def joint(self, name: Union[str, int, Joint]) -> Joint:
        """A joint by its name or index."""
        if isinstance(name, Joint):
            return name
        for joint in self.joints:
            if joint.name == name or joint.index == name:
                return joint
        raise InputError(f"there is no joint {name!r}; the scene has {len(self.joints)}")

    @property
    def gravity(self) -> np.ndarray:
        """m/s². Setting it acts on all states of the scene from their next step on."""
        return numbers(library.ds_scene_gravity(self._handle)).copy()

    @gravity.setter
    def gravity(self, value: Sequence[float]) -> None:
        message = Message()
        message.check(library.ds_scene_change_gravity(self._handle, vector(value, "gravity"), message()))

    def _material(self, name: str) -> s.ds_material_id:
        for i in range(library.ds_scene_material_count(self._handle)):
            if library.ds_material_name(self._handle, s.ds_material_id(i)).decode() == name:
                return s.ds_material_id(i)
        raise InputError(f"there is no material named {name!r}; known are {', '.join(self.materials)}")

    @property
    def materials(self) -> Dict[str, Dict[str, float]]:
        """Friction and restitution of the materials that have a name."""
        found = {}
        for i in range(library.ds_scene_material_count(self._handle)):
            name = library.ds_material_name(self._handle, s.ds_material_id(i)).decode()
            if name:
                found[name] = library.ds_scene_material(self._handle, s.ds_material_id(i)).as_dict()
        return found

    def set_material(self, name: str, **values: float) -> None:
        """Changes `mu` or `restitution` of a material, for all states of the scene from their next step on."""
        material, message = self._material(name), Message()
        definition = library.ds_scene_material(self._handle, material)
        for key, value in values.items():
            if key not in dict(definition._fields_):
                raise InputError(f"a material has no {key!r}; known are {', '.join(dict(definition._fields_))}")
            setattr(definition, key, value)
        message.check(library.ds_scene_change_material(self._handle, material, ctypes.byref(definition), message()))

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}, {len(self.bodies)} bodies, {len(self.joints)} joints>"


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _generate(specification: str) -> str:
    message = Message()
    return text_of(library.ds_generate(specification.encode(), message()), message)


# ---- Scenes of Python objects ----


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def shape(kind: str, **keys: Any) -> Dict[str, Any]:
    """A shape of any kind, with the keys of scene files: `shape("cone", radius=0.1, height=0.2)`."""
    return _plain({"kind": kind, **keys})


def box(x: float, y: float, z: float, **keys: Any) -> Dict[str, Any]:
    """A box by the lengths of its edges, m."""
    return shape("box", size=[x, y, z], **keys)


def sphere(radius: float, **keys: Any) -> Dict[str, Any]:
    """A sphere, m."""
    return shape("sphere", radius=radius, **keys)


def cylinder(radius: float, length: float, **keys: Any) -> Dict[str, Any]:
    """A cylinder along its z axis, m."""
    return shape("cylinder", radius=radius, length=length, **keys)


def capsule(radius: float, length: float, **keys: Any) -> Dict[str, Any]:
    """A capsule along its z axis, m."""
    return shape("capsule", radius=radius, length=length, **keys)


def hull(points: Any, **keys: Any) -> Dict[str, Any]:
    """The convex hull of points, m."""
    return shape("hull", points=points, **keys)


def half_space(**keys: Any) -> Dict[str, Any]:
    """Everything below z = 0 of its frame; for static and kinematic bodies."""
    return shape("half-space", **keys)


class SceneBuilder:
    """Collects bodies, materials, joints and interfaces, and builds a scene of them.

        builder = SceneBuilder(name="slope", options={"step": 0.005})
        builder.add("floor", half_space(), kind="static", mu=0.6)
        builder.add("crate", box(0.2, 0.2, 0.2), position=[0, 0, 0.1], mass=1)
        scene = builder.build()

    Keys are those of scene files, docs/scenes.md; `builder.data` is the scene file as a dict.
    """

    def __init__(self, **keys: Any) -> None:
        self.data: Dict[str, Any] = {"drystone": 1, **_plain(keys), "bodies": []}

    def add(self, name: Optional[str], *shapes: Mapping[str, Any], **keys: Any) -> str:
        """Adds a body of these shapes. Returns its name."""
        body: Dict[str, Any] = {} if name is None else {"name": name}
        body.update(_plain(keys))
        if shapes:
            body["shapes"] = [_plain(item) for item in shapes]
        self.data["bodies"].append(body)
        return name or ""

    def material(self, name: str, **keys: Any) -> str:
        """Adds a material, with `mu` and `e`. Returns its name."""
        self.data.setdefault("materials", {})[name] = _plain(keys)
        return name

    def pair(self, a: str, b: str, **keys: Any) -> None:
        """Sets `mu` or `e` of two materials."""
        self.data.setdefault("pairs", []).append({"materials": [a, b], **_plain(keys)})

    def joint(self, kind: str, a: str, b: str, **keys: Any) -> None:
        """Adds a joint of two bodies."""
        self.data.setdefault("joints", []).append({"kind": kind, "bodies": [a, b], **_plain(keys)})

    def interface(self, a: str, b: str, normal: Any, points: Any, **keys: Any) -> None:
        """Adds an interface of two bodies: where they touch at the start. The normal is from a to b; keys: `mu`."""
        self.data.setdefault("interfaces", []).append(
            {"bodies": [a, b], "normal": _plain(normal), "points": _plain(points), **_plain(keys)})

    def build(self, **arguments: Any) -> Scene:
        """The scene; arguments as those of Scene."""
        return Scene(self.data, **arguments)
