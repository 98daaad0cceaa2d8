"""Many copies of a scene, stepped in parallel: method names of Gymnasium's vector environments, without needing it."""
import ctypes
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as s
from ._library import InputError, Message, Owner, library
from .scene import Scene, Source
from .simulation import State


class _Batch(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("states", "scenes", "options", "skip", "forces", "torques", "reports",
                                                     "statuses", "unconverged", "poses", "velocities")]
    _fields_ += [(name, ctypes.c_int32) for name in ("count", "bodies", "steps")] + [("many", ctypes.c_void_p)]


class VectorEnv:
    """N environments of a scene, or of N scenes with equally many bodies, stepped by threads without the interpreter's lock.

        env = VectorEnv("incline:mu=0.5", 64, steps=4, act=push, observe=look, reward=distance, terminated=fell)
        observations, info = env.reset(seed=1)
        observations, rewards, terminated, truncated, info = env.step(actions)

    The functions are called with the environment and work on all N at once, on arrays:

    act(env, actions)     sets `env.forces` and `env.torques` (N x B x 3), which act during the whole of `step`
    observe(env)          observations, N rows; default: `env.poses` and `env.velocities` together, N x B x 13
    reward(env)           N rewards; default 0
    terminated(env)       N truth values; default False
    start(env, i, rng)    changes the state `env.states[i]` at its start, for instance at random

    An environment that has ended is reset by the next `step`, as Gymnasium's vector environments do by default; its
    action is then ignored, its reward 0. The results do not depend on the number of threads.
    """

    def __init__(self, scene: Union[Scene, Source, Sequence[Scene]], num_envs: Optional[int] = None, *, steps: int = 1,
                 threads: int = 0, max_episode_steps: Optional[int] = None, act: Optional[Callable[..., Any]] = None,
                 observe: Optional[Callable[..., np.ndarray]] = None, reward: Optional[Callable[..., Any]] = None,
                 terminated: Optional[Callable[..., Any]] = None, start: Optional[Callable[..., Any]] = None) -> None:
        if isinstance(scene, (list, tuple)):
            self.scenes = list(scene)
        else:
            one = scene if isinstance(scene, Scene) else Scene(scene)  # type: ignore[arg-type]
            self.scenes = [one] * (1 if num_envs is None else num_envs)
        n = self.num_envs = len(self.scenes)
        if n < 1 or (num_envs is not None and num_envs != n) or steps < 1:
            raise InputError("at least one environment and one step were expected, and as many environments as scenes")
        bodies = len(self.scenes[0].bodies)
        if any(len(other.bodies) != bodies for other in self.scenes):
            raise InputError("the scenes have different numbers of bodies")
        self.steps, self.max_episode_steps = steps, max_episode_steps
        self._act, self._observe, self._reward, self._terminated, self._start = act, observe, reward, terminated, start
        self.states = [State(one) for one in self.scenes]
        self._initial = {id(one): State(one) for one in self.scenes}
        self.forces = np.zeros((n, bodies, 3))
        """N at the centres of mass in every step."""
        self.torques = np.zeros((n, bodies, 3))
        self.poses = np.zeros((n, bodies, 7))
        """Position and quaternion w x y z of the bodies' frames."""
        self.velocities = np.zeros((n, bodies, 6))
        """Of the centres of mass, then angular."""
        self.unconverged = np.zeros(n, np.int32)
        """Steps of the last call whose certificate did not hold."""
        self.episode_steps = np.zeros(n, np.int64)
        self._statuses, self._skip = np.zeros(n, np.int32), np.zeros(n, bool)
        self._reports = (s.ds_step_report * n)()
        self._options = (s.ds_options * n)(*[one.options.struct for one in self.scenes])
        self._handles = (ctypes.c_void_p * n)(*[state._handle for state in self.states])
        self._scene_handles = (ctypes.c_void_p * n)(*[one._handle for one in self.scenes])
        many = library.dsb_many_create(threads)
        if not many:
            raise MemoryError("out of memory, or no more threads")
        self._owner = Owner(library.dsb_many_destroy, many)
        address = lambda array: array.ctypes.data if isinstance(array, np.ndarray) else ctypes.addressof(array)  # noqa: E731
        arrays = (self._handles, self._scene_handles, self._options, self._skip, self.forces, self.torques, self._reports,
                  self._statuses, self.unconverged, self.poses, self.velocities)
        self._batch = _Batch(*[address(array) for array in arrays], n, bodies, steps, many)
        self._ended = np.zeros(n, bool)
        self.rng = np.random.default_rng()
        library.dsb_batch_look(ctypes.byref(self._batch))

    @property
    def reports(self) -> np.ndarray:
        """Reports of the last steps: a structured array of `ds_step_report`."""
        return np.frombuffer(self._reports, dtype=np.dtype(s.ds_step_report))

    def _reset_one(self, i: int) -> None:
        state = self.states[i]
        state.assign(self._initial[id(self.scenes[i])])
        if self._start:
            self._start(self, i, self.rng)
        self.episode_steps[i] = 0
        self._ended[i] = False

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        """All environments at their start: observations and an info."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        for i in range(self.num_envs):
            self._reset_one(i)
        library.dsb_batch_look(ctypes.byref(self._batch))
        return self._observations(), {}

    def _observations(self) -> np.ndarray:
        if self._observe:
            return np.array(self._observe(self))
        return np.concatenate([self.poses, self.velocities], axis=2)

    def step(self, actions: Any = None) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]:
        """Observations, rewards, terminated, truncated (N each) and an info with the steps that did not converge."""
        self.forces[:] = 0
        self.torques[:] = 0
        if self._act:
            self._act(self, actions)
        if not (np.isfinite(self.forces).all() and np.isfinite(self.torques).all()):
            raise InputError("a force or torque is not finite")
        self._skip[:] = self._ended
        for i in np.flatnonzero(self._ended):
            self._reset_one(int(i))
        for state in self.states:
            state._free_contacts()
        library.dsb_batch_step(ctypes.byref(self._batch))
        failed = np.flatnonzero(self._statuses)
        if len(failed):
            raise Message().exception(int(self._statuses[failed[0]]))
        self.episode_steps[~self._skip] += 1
        rewards = np.zeros(self.num_envs) if self._reward is None else np.array(self._reward(self), dtype=float)
        terminated = np.zeros(self.num_envs, bool) if self._terminated is None else np.array(self._terminated(self), dtype=bool)
        rewards[self._skip] = 0
        terminated &= ~self._skip
        truncated = np.zeros(self.num_envs, bool)
        if self.max_episode_steps is not None:
            truncated = (self.episode_steps >= self.max_episode_steps) & ~terminated
        self._ended = terminated | truncated
        return self._observations(), rewards, terminated, truncated, {"unconverged": self.unconverged.copy()}

    def close(self) -> None:
        """For Gymnasium's sake: memory is freed when the object is gone."""

    def __repr__(self) -> str:
        return f"<VectorEnv of {self.num_envs} x {self.scenes[0].name!r}>"
