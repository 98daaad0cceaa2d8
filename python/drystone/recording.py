"""Recordings: written by simulations, read frame by frame."""
import ctypes
import os
from typing import Any, Iterator, List, Optional, Union

import numpy as np

from . import _structs as s
from ._library import hdf5, InputError, Message, library, table, view
from .scene import Options, Scene
from .simulation import Contacts, Simulation


class Recorder:
    """Writes a recording of a simulation, readable while it is written and after a crash."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], simulation: Simulation, *, run_time: Optional[float] = None) -> None:
        self._handle: Optional[int] = None
        self.path, self._simulation = os.fspath(path), simulation
        run, message = s.ds_run_settings.from_buffer_copy(simulation.scene._run), Message()
        run.options = simulation.options.struct
        if run_time is not None:
            run.time = run_time
        self._handle = library.ds_recorder_create(os.fsencode(self.path), simulation.scene.text.encode(), ctypes.byref(run),
                                                  simulation.scene._handle, message())
        if not self._handle:
            raise message.exception()

    def append(self) -> None:
        """Adds the state of the simulation as a frame."""
        if not self._handle:
            raise InputError(f"{self.path}: the recording is closed")
        simulation, message = self._simulation, Message()
        report = simulation.report.copy()
        if report.step == 0:
            energy = simulation.state.energy
            report.time = simulation.time
            report.energy_before = report.energy_after = energy.kinetic + energy.potential + energy.elastic
        with simulation.state._use():
            status = library.ds_recorder_append(self._handle, simulation.scene._handle, simulation.state._handle,
                                                ctypes.byref(report), message())
        message.check(status)

    def close(self) -> None:
        """Completes the file. A recorder is a context manager: `with Recorder(path, simulation) as recorder:`."""
        if self._handle:
            handle, self._handle, message = self._handle, None, Message()
            message.check(library.ds_recorder_close(handle, message()))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.ds_recorder_close(self._handle, None)


class Frame:
    """One frame of a recording."""

    def __init__(self, frame: Any, bodies: int, reduced: int) -> None:
        self.time: float = frame.time
        self.report: s.ds_step_report = frame.report.copy()
        self.poses = view(frame.poses, (bodies, 7), "f8", None).copy()
        """B x 7: position, then quaternion w x y z."""
        self.velocities = view(frame.velocities, (bodies, 3), "f8", None).copy()
        self.angular_velocities = view(frame.angular_velocities, (bodies, 3), "f8", None).copy()
        self.reduced = view(frame.reduced, (reduced,), "f8", None).copy()
        self.reduced_rates = view(frame.reduced_rate, (reduced,), "f8", None).copy()
        self.contacts = Contacts(table(frame.contacts, frame.contact_count, s.ds_contact, None).copy())

    def __repr__(self) -> str:
        return f"<Frame at t = {self.time:g} s, {len(self.contacts)} contacts>"


class Recording:
    """A recording, read frame by frame: `recording[0]`, `recording[-1]`, `recording.at(1.5)`, `len(recording)`."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._handle: Optional[int] = None
        message = Message()
        self.path = os.fspath(path)
        self._handle = library.ds_recording_open(os.fsencode(self.path), message())
        if not self._handle:
            raise message.exception()
        scene = library.ds_recording_scene(self._handle)
        self._bodies = library.ds_scene_body_count(scene)
        self._reduced = library.ds_scene_reduced_count(scene)
        run = s.ds_run_settings.from_address(library.ds_recording_settings(self._handle))
        self.name: str = run.name.decode()
        self.options: Options = Options._of(run.options)
        """Options that the run used."""
        self.scene_text: str = library.ds_recording_scene_text(self._handle).decode()
        """The scene as JSON."""
        self.complete: bool = library.ds_recording_closed(self._handle)
        """False while it is being written, and where its writer was killed."""
        self.version: str = library.ds_recording_version(self._handle).decode()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.ds_recording_close(self._handle)
            self._handle = None

    @property
    def times(self) -> np.ndarray:
        """Times of all frames, s."""
        return np.array([library.ds_recording_time(self._handle, i) for i in range(len(self))])

    def scene(self, **arguments: Any) -> Scene:
        """The scene of the recording, to be run again."""
        return Scene(self.scene_text, folder=os.path.dirname(os.path.abspath(self.path)), **arguments)

    def resume(self, **arguments: Any) -> Simulation:
        """A simulation that continues where the recording ends, bit for bit."""
        scene = self.scene()
        simulation, message = Simulation(scene, **arguments), Message()
        simulation.options = self.options.copy()
        with simulation.state._use():
            message.check(library.ds_recording_read_state(self._handle, simulation.state._handle, message()))
        return simulation

    def __len__(self) -> int:
        return library.ds_recording_frame_count(self._handle)

    def __getitem__(self, index: int) -> Frame:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"there is no frame {index}; the recording has {count}")
        frame, message = s.ds_frame(), Message()
        with hdf5:  # the next read overwrites what was read
            message.check(library.ds_recording_read(self._handle, ctypes.byref(frame), index % count, message()))
            return Frame(frame, self._bodies, self._reduced)

    def at(self, time: float) -> Frame:
        """The frame nearest in time."""
        if len(self) == 0:
            raise IndexError("the recording has no frame")
        return self[library.ds_recording_find(self._handle, time)]

    def __iter__(self) -> Iterator[Frame]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Recording {self.path!r}, {len(self)} frames>"
