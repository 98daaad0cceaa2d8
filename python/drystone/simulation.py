"""States, steps, contacts, control."""
import ctypes
import threading
import weakref
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import numpy as np

from . import _structs as s
from ._library import InputError, Message, Owner, _View, column, library, numbers, pose, table, vector, view
from .scene import Body, Joint, Options, Scene, Source

MODES = ("open", "stick", "slide")
BodyName = Union[str, int, Body]


class _Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("bodies", "force", "torque", "reduced", "reduced_rate")]


class Contacts:
    """Contacts of the last step, one row each. Arrays refer to memory of the library and stay valid.

    The impulse acts on body a, its opposite on body b; the normal points from b to a.
    """

    def __init__(self, structs: np.ndarray) -> None:
        self.structs = structs
        """All members as a structured array (`ds_contact` of `types.h`)."""

    def __len__(self) -> int:
        return len(self.structs)

    @property
    def a(self) -> np.ndarray:
        """Index of the first body."""
        return self.structs["a"]["index1"] - 1

    @property
    def b(self) -> np.ndarray:
        """Index of the second body."""
        return self.structs["b"]["index1"] - 1

    @property
    def point(self) -> np.ndarray:
        """m, world, N x 3."""
        return column(self.structs, "point", 3)

    @property
    def normal(self) -> np.ndarray:
        """Unit, from b to a, N x 3."""
        return column(self.structs, "normal", 3)

    @property
    def impulse(self) -> np.ndarray:
        """N s on body a, N x 3."""
        return column(self.structs, "impulse", 3)

    @property
    def velocity(self) -> np.ndarray:
        """m/s of a against b at the point, after the step, N x 3."""
        return column(self.structs, "velocity", 3)

    @property
    def gap(self) -> np.ndarray:
        """m; negative = overlap."""
        return self.structs["gap"]

    @property
    def mu(self) -> np.ndarray:
        """Friction coefficient."""
        return self.structs["mu"]

    @property
    def mode(self) -> np.ndarray:
        """0 open, 1 stick, 2 slide: an index into `drystone.MODES`."""
        return self.structs["mode"]

    @property
    def normal_impulse(self) -> np.ndarray:
        """N s, N numbers."""
        return np.einsum("ij,ij->i", self.impulse, self.normal)

    def __repr__(self) -> str:
        counts = np.bincount(self.mode, minlength=3)
        return f"<Contacts: {counts[1]} stick, {counts[2]} slide, {counts[0]} open>"


class State:
    """Positions, velocities and impulses: everything needed to continue bit for bit.

    Arrays are views without copies of the library's memory, one row per body; they show the next state after a step.
    """

    def __init__(self, scene: Scene, _handle: Optional[int] = None) -> None:
        self._handle: Optional[int] = None
        self.scene = scene
        self._lock = threading.Lock()
        self._handle = _handle or library.ds_state_create(scene._handle)
        if not self._handle:
            raise MemoryError("out of memory")
        memory = _Memory()
        library.dsb_state_memory(ctypes.byref(memory), self._handle)
        bodies, reduced = len(scene.bodies), library.ds_scene_reduced_count(scene._handle)
        self._owner = holder = Owner(library.ds_state_destroy, self._handle, scene)
        rows = view(memory.bodies, (bodies, 13), "f8", holder)
        self.centers = rows[:, 0:3]
        """Centres of mass, m, B x 3."""
        self.principal_rotations = rows[:, 3:7]
        """Quaternions w x y z of the principal frames, B x 4; `poses` has the frames of the scene."""
        self.velocities = rows[:, 7:10]
        """Of the centres of mass, m/s, B x 3."""
        self.angular_velocities = rows[:, 10:13]
        """rad/s, world frame, B x 3."""
        self.forces = view(memory.force, (bodies, 3), "f8", holder, writable=True)
        """N at the centres of mass during the next step, B x 3. Writable; zero again after every step."""
        self.torques = view(memory.torque, (bodies, 3), "f8", holder, writable=True)
        """N m during the next step, B x 3. Writable; zero again after every step."""
        self.reduced = view(memory.reduced, (reduced,), "f8", holder)
        """Reduced coordinates of all deformable bodies, one after the other."""
        self.reduced_rates = view(memory.reduced_rate, (reduced,), "f8", holder)
        """Their rates."""
        self._contacts: Optional["weakref.ref[_View]"] = None

    # ---- life ----

    def copy(self) -> "State":
        """A state of its own that evolves bit for bit like this one."""
        with self._use():
            handle = library.ds_state_copy(self._handle)
        if not handle:
            raise MemoryError("out of memory")
        return State(self.scene, handle)

    def assign(self, other: "State") -> None:
        """Becomes a copy of another state of the same scene."""
        if other.scene is not self.scene:
            raise InputError("the other state is of another scene")
        with self._use(), other._use() if other is not self else _nothing:
            self._free_contacts()
            if library.ds_state_assign(self._handle, other._handle) != s.ds_status.DS_OK:
                raise MemoryError("out of memory")

    def save(self) -> bytes:
        """All of it, for files and other processes."""
        size = ctypes.c_size_t()
        with self._use():
            address = library.ds_state_save(self._handle, ctypes.byref(size))
        if not address:
            raise MemoryError("out of memory")
        data = ctypes.string_at(address, size.value)
        library.dsb_free(address)
        return data

    def load(self, data: bytes) -> None:
        """Restores what `save` returned, of a scene with the same bodies. Refuses damaged data and changes nothing."""
        message = Message()
        with self._use():
            self._free_contacts()
            message.check(library.ds_state_load(self._handle, data, len(data), message()))

    def _use(self) -> "_Use":
        return _Use(self._lock)

    # ---- values ----

    @property
    def time(self) -> float:
        """s."""
        return library.ds_state_time(self._handle)

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return library.dsb_state_step(self._handle)

    @property
    def hash(self) -> str:
        """16 hexadecimal digits, as `state_hash` of the program's report: equal hashes mean bit-equal states."""
        return f"{library.ds_state_hash(self._handle):016x}"

    @property
    def poses(self) -> np.ndarray:
        """Frames of the bodies as the scene gives them, B x 7: position, then quaternion w x y z. Computed: a copy."""
        out = np.empty((len(self.scene.bodies), 7))
        library.dsb_state_poses(out.ctypes.data, self.scene._handle, self._handle)
        return out

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, without a copy."""
        with self._use():
            count = ctypes.c_int32()
            address = library.ds_state_contacts(self._handle, ctypes.byref(count))
            memory = self._contacts() if self._contacts else None
            if count.value == 0:
                return Contacts(table(None, 0, s.ds_contact, None))
            if memory is None:
                size = count.value * ctypes.sizeof(s.ds_contact)
                memory = _View(address, (size,), "u1", self._owner, False)
                self._contacts = weakref.ref(memory)
            return Contacts(np.asarray(memory).view(np.dtype(s.ds_contact)))

    def _free_contacts(self) -> None:
        """Before contacts change: those that arrays refer to stay with the arrays."""
        memory = self._contacts() if self._contacts else None
        self._contacts = None
        if memory is None:
            return
        address = library.dsb_state_take_contacts(self._handle)
        if not address:
            raise MemoryError("out of memory")
        memory.owner = Owner(library.dsb_free, address)

    @property
    def energy(self) -> s.ds_energy:
        """`kinetic`, `potential` and `elastic`, J."""
        return library.ds_state_energy(self.scene._handle, self._handle)

    @property
    def momentum(self) -> np.ndarray:
        """Linear (N s), then angular about the origin (N m s): 6 numbers."""
        return numbers(library.ds_state_momentum(self.scene._handle, self._handle)).copy()

    @property
    def deepest_overlap(self) -> float:
        """m; 0 = none."""
        depth = ctypes.c_double()
        status = library.ds_state_deepest_overlap(ctypes.byref(depth), None, None, self.scene._handle, self._handle)
        Message().check(status)
        return depth.value

    def joint(self, name: Union[str, int, Joint]) -> s.ds_joint_place:
        """Where a joint is: `position` (rad or m since the start), `gap`, `axis`."""
        return library.ds_state_joint(self.scene._handle, self._handle, self.scene.joint(name)._id)

    def ray_cast(self, origin: Sequence[float], direction: Sequence[float], distance: float = 1e9) -> Optional[s.ds_ray_hit]:
        """The first surface along a ray, None where there is none."""
        towards = vector(direction, "direction")
        if not np.linalg.norm(numbers(towards)) > 0:
            raise InputError("direction: a vector other than zero was expected")
        hit = library.ds_state_ray_cast(self.scene._handle, self._handle, vector(origin, "origin"), towards, distance)
        return hit if hit.body.index1 else None

    # ---- changes ----

    def _dynamic(self, name: BodyName) -> Body:
        body = self.scene.body(name)
        if body.kind != "dynamic":
            raise InputError(f"body {body.name!r} is {body.kind}: it has no velocity of its own, and no force moves it")
        return body

    def set_pose(self, body: BodyName, position: Sequence[float], rotation: Sequence[float] = (1, 0, 0, 0)) -> None:
        """Puts a body's frame somewhere."""
        found = self.scene.body(body)
        with self._use():
            library.ds_state_set_pose(self.scene._handle, self._handle, found._id, pose(position, rotation))

    def set_velocity(self, body: BodyName, velocity: Sequence[float] = (0, 0, 0),
                     angular_velocity: Sequence[float] = (0, 0, 0)) -> None:
        """Velocity of the centre of mass and angular velocity, of a dynamic body."""
        found, v, w = self._dynamic(body), vector(velocity, "velocity"), vector(angular_velocity, "angular_velocity")
        with self._use():
            library.ds_state_set_velocity(self._handle, found._id, v, w)

    def apply_force(self, body: BodyName, force: Sequence[float], point: Optional[Sequence[float]] = None) -> None:
        """A force in N during the next step, at a point of the world or at the centre of mass."""
        found = self._dynamic(body)
        where = self.centers[found.index] if point is None else point
        with self._use():
            library.ds_state_apply_force(self._handle, found._id, vector(force, "force"), vector(where, "point"))

    def apply_torque(self, body: BodyName, torque: Sequence[float]) -> None:
        """A torque in N m during the next step."""
        self.torques[self._dynamic(body).index] += numbers(vector(torque, "torque"))

    def grab(self, body: BodyName, grip: Sequence[float] = (0, 0, 0), **keys: Any) -> "Hand":
        """Holds a body by a spring and a damper, at `grip` in its frame; keys are those of `ds_hand_def`."""
        definition, message = library.ds_default_hand(), Message()
        definition.body = self._dynamic(body)._id
        definition.grip = vector(grip, "grip")
        frame = self.poses[definition.body.index1 - 1]
        place = frame[:3] + _rotate(frame[3:], np.asarray(grip, float))
        definition.target = pose(place, frame[3:])
        for key, value in keys.items():
            if key not in dict(definition._fields_):
                raise InputError(f"a hand has no {key!r}; known are {', '.join(dict(definition._fields_))}")
            setattr(definition, key, value)
        with self._use():
            hand = library.ds_state_grab(self._handle, ctypes.byref(definition), message())
        if hand.index1 == 0:
            raise message.exception()
        return Hand(self, hand)

    def __repr__(self) -> str:
        return f"<State of {self.scene.name!r} at t = {self.time:g} s, {self.hash}>"


def _rotate(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    t = 2 * np.cross(q[1:], x)
    return x + q[0] * t + np.cross(q[1:], t)


class _Use:
    """One thread at a time: a state that is being stepped cannot be used from another thread."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("the state is being used by another thread; give every thread a state of its own")

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: Any) -> None: ...


_nothing = _Nothing()


class Hand:
    """A spring and a damper that pull a body to a target."""

    def __init__(self, state: State, hand: s.ds_hand_id) -> None:
        self._state, self._id = state, hand

    def _held(self) -> s.ds_hand_id:
        if self._id.index1 == 0:
            raise InputError("the hand has released its body")
        return self._id

    def move(self, position: Sequence[float], rotation: Sequence[float] = (1, 0, 0, 0),
             velocity: Sequence[float] = (0, 0, 0), angular_velocity: Sequence[float] = (0, 0, 0)) -> None:
        """The target at the end of the next step, and its velocity."""
        target, v, w = pose(position, rotation), vector(velocity), vector(angular_velocity)
        with self._state._use():
            library.ds_state_move_hand_at(self._state._handle, self._held(), target, v, w)

    @property
    def force(self) -> np.ndarray:
        """N on the body at the end of the last step."""
        return numbers(library.ds_state_hand(self._state._handle, self._held()).force).copy()

    @property
    def torque(self) -> np.ndarray:
        """N m on the body."""
        return numbers(library.ds_state_hand(self._state._handle, self._held()).torque).copy()

    @property
    def grip(self) -> np.ndarray:
        """Where the body is held now, m, world."""
        return numbers(library.ds_state_hand(self._state._handle, self._held()).grip).copy()

    def release(self) -> None:
        """Lets go."""
        with self._state._use():
            library.ds_state_release(self._state._handle, self._held())
        self._id = s.ds_hand_id(0)


Control = Callable[["Simulation"], Any]


class Simulation:
    """A scene in motion: a state, threads to step it, options, and the report of the last step.

        simulation = Simulation("card-house:levels=3")
        simulation.run(1.0)
        print(simulation.report.worst.natural_error)
    """

    def __init__(self, scene: Union[Scene, Source], *, threads: int = 1, state: Optional[State] = None, **options: Any) -> None:
        self._stepper: Optional[int] = None
        self.scene = scene if isinstance(scene, Scene) else Scene(scene)
        if state is not None and state.scene is not self.scene:
            raise InputError("the state is of another scene")
        self.state = state or State(self.scene)
        self.options: Options = self.scene.options.copy()
        for name, value in options.items():
            setattr(self.options, name, value)
        self.report = s.ds_step_report()
        """Statistics and certificate of the last step: `report.worst.converged`, `report.contacts`, ..."""
        self.report.worst.converged = True
        self.unconverged = 0
        """Steps whose certificate did not hold."""
        if not 0 <= threads <= 256:
            raise InputError(f"threads: 0 to 256 were expected, not {threads}")
        self._stepper = library.ds_stepper_create(threads)
        if not self._stepper:
            raise MemoryError("out of memory, or no more threads")

    def __del__(self) -> None:
        if getattr(self, "_stepper", None):
            library.ds_stepper_destroy(self._stepper)
            self._stepper = None

    @property
    def time(self) -> float:
        """s."""
        return self.state.time

    @property
    def hash(self) -> str:
        """State hash."""
        return self.state.hash

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step."""
        return self.state.contacts

    @property
    def islands(self) -> np.ndarray:
        """Certificates of the islands of the last step: a structured array of `ds_certificate`."""
        count = ctypes.c_int32()
        address = library.ds_stepper_islands(self._stepper, ctypes.byref(count))
        return table(address, count.value, s.ds_certificate, self).copy()

    def reset(self) -> None:
        """Back to the start of the scene."""
        self.state.assign(State(self.scene))
        self.report = s.ds_step_report()
        self.report.worst.converged = True
        self.unconverged = 0

    def step(self, count: int = 1) -> s.ds_step_report:
        """Takes steps, without the interpreter's lock. Forces act in the first. Returns the report of the last.

        A step that does not converge is no exception: `report.worst.converged` is false, and `unconverged` counts.
        """
        report, missed, message = s.ds_step_report(), ctypes.c_int64(0), Message()
        if count > 0:
            report = self.report.copy()
        with self.state._use():
            self.state._free_contacts()
            status = library.dsb_steps(self._stepper, self.state._handle, ctypes.byref(report), self.scene._handle,
                                       ctypes.byref(self.options.struct), count, ctypes.byref(missed))
        self.unconverged += missed.value
        message.check(status)
        if count > 0:
            self.report = report
        return self.report

    def run(self, time: Optional[float] = None, *, control: Optional[Control] = None, record: Optional[str] = None,
            record_every: int = 1, until: Optional[Callable[["Simulation"], bool]] = None) -> "Simulation":
        """Steps for `time` seconds, or as long as the scene asks.

        control: called before every step; sets forces, moves hands. until: called after every step; true ends the run.
        record: file for `drystone view`, `film`, `plot` and `drystone.Recording`.
        """
        from .recording import Recorder

        seconds = self.scene.time if time is None else time
        steps = int(np.ceil(seconds / self.options.step * (1 - 1e-12)))
        if record is None and control is None and until is None:
            for _ in range(steps):  # one by one, so that Ctrl-C ends the run
                self.step()
            return self
        recorder = Recorder(record, self, run_time=self.time + seconds) if record else None
        try:
            if recorder:
                recorder.append()
            for i in range(steps):
                if control:
                    control(self)
                self.step()
                if recorder and ((i + 1) % record_every == 0 or i + 1 == steps):
                    recorder.append()
                if until and until(self):
                    break
        finally:
            if recorder:
                recorder.close()
        return self

    def __iter__(self) -> Iterator[s.ds_step_report]:
        """Steps for as long as the scene asks, one report each."""
        end = self.scene.time - 0.5 * self.options.step
        while self.time < end:
            yield self.step()

    def __repr__(self) -> str:
        return f"<Simulation of {self.scene.name!r} at t = {self.time:g} s>"
