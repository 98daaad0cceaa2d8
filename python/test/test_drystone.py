"""Tests of the Python package against the program and against mechanics. Usage: test_drystone.py PROGRAM SOURCE_DIR"""
import ctypes
import gc
import json
import os
import signal
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import numpy as np

import drystone as ds

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TIME = 0.3


def program_report(source, *options):
    """The report of `drystone run`."""
    output = subprocess.run([PROGRAM, "run", source, "--report", "-", "-q", *options], check=True, capture_output=True, text=True)
    return json.loads(output.stdout)


def builder(**keys):
    b = ds.SceneBuilder(**keys)
    b.add("floor", ds.half_space(), kind="static", mu=0.5)
    return b


class Structs(unittest.TestCase):
    def test_layout(self):
        """Every member of every struct is where the compiler has it."""
        class Row(ctypes.Structure):
            _fields_ = [("type", ctypes.c_char_p), ("member", ctypes.c_char_p), ("value", ctypes.c_size_t)]

        count = ctypes.c_int32()
        rows = (Row * 0).from_address(ds.library.dsb_layouts(ctypes.byref(count)))
        rows = (Row * count.value).from_address(ctypes.addressof(rows))
        seen = set()
        for row in rows:
            struct = getattr(ds.structs, row.type.decode())
            seen.add(struct)
            found = getattr(struct, row.member.decode()).offset if row.member else ctypes.sizeof(struct)
            self.assertEqual(found, row.value, f"{row.type} {row.member}")
        self.assertEqual(seen, set(ds.structs.STRUCTS))
        self.assertGreater(count.value, 400)


class Scenes(unittest.TestCase):
    def test_hashes_are_those_of_the_program(self):
        for source in ("card-house:levels=3", "linkage", "roll", os.path.join(SOURCE, "scenes/tour.json")):
            simulation = ds.Simulation(source, threads=2).run(TIME)
            self.assertEqual(simulation.hash, program_report(source, "--time", str(TIME))["state_hash"], source)

    def test_deformable(self):
        simulation = ds.Simulation("soft-incline").run(0.05)
        self.assertEqual(simulation.hash, program_report("soft-incline", "--time", "0.05")["state_hash"])
        self.assertGreater(np.abs(simulation.state.reduced).max(), 0)

    def test_settings(self):
        settings = {"options.step": 0.005, "materials.card.mu": 0.9}
        scene = ds.Scene("card-house:levels=2", settings)
        self.assertEqual(scene.options.step, 0.005)
        self.assertEqual(scene.materials["card"]["mu"], 0.9)
        simulation = ds.Simulation(scene).run(TIME)
        report = program_report("card-house:levels=2", "--time", str(TIME), "--set", "options.step=0.005",
                                "--set", "materials.card.mu=0.9")
        self.assertEqual(simulation.hash, report["state_hash"])

    def test_built_scene_is_that_of_its_file(self):
        b = builder(name="built", time=1, gravity=[0, 0, -9.81], options={"step": 0.004})
        b.material("wood", mu=0.37)
        b.add("crate", ds.box(0.2, 0.3, 0.1), position=np.array([0.013, 0, 0.0501]), mass=2, material="wood",
              velocity=(1 / 3, 0, 0))
        b.add("ball", ds.sphere(0.05), position=(0.4, 0.1, 0.3))
        b.joint("hinge", "crate", "ball", point=[0.2, 0, 0.1], axis=[0, 1, 0])
        simulation = ds.Simulation(b.build()).run(TIME)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "built.json")
            with open(path, "w") as file:
                json.dump(b.data, file)
            self.assertEqual(simulation.hash, program_report(path, "--time", str(TIME))["state_hash"])
        self.assertEqual(simulation.scene.joints[0].kind, "hinge")
        self.assertLess(simulation.state.joint(0).gap, 1e-6)

    def test_interfaces(self):
        """Shapes that overlap stand by their interface, and the scene gives it back."""
        b = builder()
        b.add("block", ds.box(1, 1, 1), position=[0, 0, 0.499])
        corners = np.array([[-0.4, -0.4, 0], [0.4, -0.4, 0], [0.4, 0.4, 0], [-0.4, 0.4, 0]])
        b.interface("block", "floor", [0, 0, -2], corners, mu=0.6)
        scene = b.build()
        (found,) = scene.interfaces
        self.assertEqual((found.a.name, found.b.name, found.mu), ("floor", "block", 0.6))
        np.testing.assert_array_equal(found.normal, [0, 0, 2])
        np.testing.assert_array_equal(found.points, corners)
        state = ds.Simulation(scene).run(0.5).state
        self.assertAlmostEqual(state.centers[1, 2], 0.499, 12)
        b.interface("floor", "block", [0, 0, 1], corners)
        self.assertIsNone(b.build().interfaces[1].mu)
        self.assertEqual(ds.Scene("stack").interfaces, [])
        b.interface("floor", "roof", [0, 0, 1], corners)
        with self.assertRaisesRegex(ds.InputError, "roof"):
            b.build()

    def test_messages_are_those_of_the_program(self):
        cases = {"card-huose": "card-house", '{"drystone": 1, "bodies": [{"kind": "statik"}]}': "scene:1:", "none.json": "none.json"}
        for source, text in cases.items():
            with self.assertRaises(ds.InputError) as caught:
                ds.Scene(source)
            self.assertIn(text, str(caught.exception))
        with self.assertRaisesRegex(ValueError, "nothing|there is no|levelz"):
            ds.Scene("card-house:levelz=3")
        with self.assertRaisesRegex(ds.InputError, "there is no body named 'roof'"):
            ds.Scene("stack").body("roof")

    def test_bodies(self):
        scene = ds.Scene("stack:count=3")
        masses = [body.mass for body in scene.bodies if body.kind == "dynamic"]
        self.assertEqual(len(masses), 3)
        cube = scene.bodies[-1]
        np.testing.assert_allclose(np.diag(cube.inertia), cube.principal_inertia, rtol=1e-9)
        scene.gravity = [0, 0, -1.62]
        np.testing.assert_array_equal(scene.gravity, [0, 0, -1.62])

    def test_options(self):
        options = ds.Options(step=0.002, method="gauss-seidel")
        self.assertEqual(options.method, "gauss-seidel")
        for name, value in (("step", -1), ("method", "magic"), ("integrator", "leap"), ("stepp", 1)):
            with self.assertRaises((ds.InputError, AttributeError)):
                setattr(options, name, value)
        self.assertEqual(options.step, 0.002)


class Steps(unittest.TestCase):
    def test_slide_and_stop(self):
        """A block at 2 m/s on mu = 0.5: friction is mu m g, contacts slide, and it stops after v²/(2 mu g)."""
        b = builder(options={"step": 0.002})
        b.add("block", ds.box(0.2, 0.2, 0.05), position=[0, 0, 0.025], mass=3, mu=0.5, velocity=[2, 0, 0])
        simulation = ds.Simulation(b.build())
        block = simulation.scene.body("block").index
        simulation.run(0.1)
        contacts = simulation.contacts
        self.assertTrue((contacts.mode[contacts.normal_impulse > 0] == ds.MODES.index("slide")).all())
        force = contacts.impulse.sum(axis=0) / simulation.options.step
        sign = 1 if contacts.a[0] == block else -1
        np.testing.assert_allclose(sign * force, [-0.5 * 3 * 9.81, 0, 3 * 9.81], rtol=1e-6, atol=1e-9)
        simulation.run(0.6)
        self.assertAlmostEqual(simulation.state.centers[block, 0], 4 / (2 * 0.5 * 9.81), delta=0.003)
        self.assertEqual(simulation.unconverged, 0)

    def test_views(self):
        simulation = ds.Simulation("stack:count=2")
        state = simulation.state
        centers, velocities = state.centers, state.velocities
        address = centers.__array_interface__["data"][0]
        simulation.state.set_velocity(1, [0.3, 0, 0])
        simulation.step()
        self.assertEqual(centers.__array_interface__["data"][0], address)
        np.testing.assert_array_equal(centers, simulation.state.centers)
        self.assertGreater(abs(velocities[1, 0]), 0)
        with self.assertRaises(ValueError):
            centers[0, 0] = 1
        kept = centers.copy()
        del simulation, state, velocities
        gc.collect()
        np.testing.assert_array_equal(centers, kept)  # the array keeps the memory

    def test_contacts_of_earlier_steps_stay(self):
        simulation = ds.Simulation("stack:count=3")
        simulation.state.set_velocity(3, [1, 0.3, 0])
        simulation.step(3)
        before = simulation.contacts
        again = simulation.contacts
        self.assertEqual(before.point.__array_interface__["data"], again.point.__array_interface__["data"])
        point, impulse = before.point, before.impulse.copy()
        copy = point.copy()
        del before, again
        other = ds.Simulation(simulation.scene)
        other.state.set_velocity(3, [1, 0.3, 0])
        other.step(3)
        for _ in range(30):
            simulation.step()
            other.step()
        np.testing.assert_array_equal(point, copy)
        self.assertFalse(np.array_equal(simulation.contacts.impulse[: len(impulse)], impulse))
        self.assertEqual(simulation.hash, other.hash)

    def test_forces(self):
        """A force on a free body: a = F/m + g."""
        b = builder()
        b.add("ball", ds.sphere(0.1), position=[0, 0, 5], mass=2)
        simulation = ds.Simulation(b.build(), integrator="euler")
        simulation.run(0.1, control=lambda sim: sim.state.apply_force("ball", [4, 0, 0]))
        np.testing.assert_allclose(simulation.state.velocities[1], [0.2, 0, -0.981], atol=1e-12)
        simulation.state.forces[1] = [0, 8, 0]
        simulation.state.apply_torque("ball", [0, 0, 0.01])
        simulation.step()
        self.assertAlmostEqual(simulation.state.velocities[1, 1], 0.04, 12)
        self.assertAlmostEqual(simulation.state.angular_velocities[1, 2], 0.01 * 0.01 / (0.4 * 2 * 0.01), 9)
        self.assertFalse(simulation.state.forces.any())
        with self.assertRaisesRegex(ds.InputError, "is static"):
            simulation.state.apply_force("floor", [1, 0, 0])
        with self.assertRaisesRegex(ds.InputError, "finite"):
            simulation.state.apply_force("ball", [np.nan, 0, 0])
        simulation.state.forces[1] = np.inf
        before = simulation.hash
        with self.assertRaises(ArithmeticError):
            simulation.step()
        self.assertEqual(simulation.hash, before)

    def test_hand(self):
        b = builder()
        b.add("ball", ds.sphere(0.1), position=[0, 0, 1], mass=1)
        simulation = ds.Simulation(b.build())
        hand = simulation.state.grab("ball", max_force=np.inf)
        hand.move([0.2, 0, 1])
        simulation.run(2.0)
        self.assertAlmostEqual(simulation.state.centers[1, 0], 0.2, delta=1e-3)
        np.testing.assert_allclose(hand.force, [0, 0, 9.81], atol=1e-3)
        hand.release()
        with self.assertRaises(ds.InputError):
            hand.move([0, 0, 0])

    def test_copies_and_bytes(self):
        simulation = ds.Simulation("stack:count=2").run(0.05)
        copy = ds.Simulation(simulation.scene, state=simulation.state.copy())
        data = simulation.state.save()
        simulation.run(0.1)
        copy.run(0.1)
        self.assertEqual(simulation.hash, copy.hash)
        third = ds.State(simulation.scene)
        third.load(data)
        self.assertEqual(ds.Simulation(simulation.scene, state=third).run(0.1).hash, copy.hash)
        with self.assertRaises(ds.InputError):
            third.load(data[:-1] + b"?")
        simulation.reset()
        self.assertEqual((simulation.time, simulation.hash), (0, ds.State(simulation.scene).hash))

    def test_reports(self):
        simulation = ds.Simulation("card-house:levels=2")
        report = simulation.step()
        self.assertEqual((report.step, report.contacts), (1, len(simulation.contacts)))
        self.assertTrue(report.worst.converged)
        self.assertEqual(len(simulation.islands), report.islands)
        self.assertLessEqual(simulation.islands["natural_error"].max(), simulation.islands["tolerance"].max())
        self.assertIn("natural_error", report.as_dict()["worst"])
        self.assertIn("bodies", type(report).__doc__)

    def test_queries(self):
        state = ds.State(ds.Scene("stack:count=2"))
        top = state.centers[:, 2].max()
        hit = state.ray_cast([0, 0, top + 5], [0, 0, -1])
        self.assertAlmostEqual(hit.point.z + hit.distance, top + 5)
        self.assertIsNone(state.ray_cast([0, 0, top + 5], [0, 0, 1]))
        self.assertLess(state.deepest_overlap, 1e-9)
        self.assertEqual(state.energy.kinetic, 0)

    def test_threads(self):
        """The interpreter's lock is free during steps; a state belongs to one thread at a time."""
        simulation = ds.Simulation("card-house:levels=5")
        simulation.state.set_velocity(len(simulation.scene.bodies) - 1, [3, 0, -1])
        counted, done = [0], threading.Event()

        def work():
            simulation.step(30)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        refused = 0
        while not done.is_set():
            counted[0] += 1
            try:
                simulation.state.copy()
            except RuntimeError:
                refused += 1
            time.sleep(0.0005)
        thread.join()
        self.assertGreater(counted[0], 3)
        self.assertGreater(refused, 0)
        self.assertEqual(simulation.state.steps, 30)


class Recordings(unittest.TestCase):
    def test_record_replay_resume(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            simulation = ds.Simulation("stack:count=3")
            simulation.state.set_velocity(3, [1, 0.2, 0])
            poses = [simulation.state.poses]
            simulation.run(0.2, record=path, control=lambda sim: poses.append(sim.state.poses) if sim.state.steps else None)
            poses.append(simulation.state.poses)
            recording = ds.Recording(path)
            self.assertEqual(len(recording), 21)
            self.assertTrue(recording.complete)
            for frame, pose in zip(recording, poses):
                np.testing.assert_array_equal(frame.poses, pose)
            last = recording[-1]
            np.testing.assert_allclose(last.contacts.impulse, simulation.contacts.impulse, rtol=2.0**-24, atol=0)
            np.testing.assert_allclose(recording.times, np.arange(21) * 0.01)
            self.assertEqual(recording.at(0.052).time, recording[5].time)
            resumed = recording.resume()
            self.assertEqual(resumed.hash, simulation.hash)
            self.assertEqual(resumed.run(0.1).hash, simulation.run(0.1).hash)
            again = subprocess.run([PROGRAM, "info", path], capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stderr)
            with self.assertRaises(IndexError):
                recording[21]
            copy = os.path.join(folder, "copy.h5")
            with ds.Recorder(os.path.join(folder, "open.h5"), simulation, run_time=7.25) as recorder:
                recorder.append()
                shutil.copyfile(recorder.path, copy)
            self.assertFalse(ds.Recording(copy).complete)
            self.assertTrue(ds.Recording(recorder.path).complete)
            told = subprocess.run([PROGRAM, "info", recorder.path], capture_output=True, text=True)
            self.assertIn("7.25", told.stdout)
            with self.assertRaisesRegex(ds.InputError, "not a readable|not an HDF5"):
                ds.Recording(__file__)
            with self.assertRaises(ds.InputError):
                simulation.run(0.1, record=os.path.join(folder, "none", "run.h5"))

    def test_recordings_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            report = program_report("card-house:levels=2", "--time", "0.1", "--record", path)
            recording = ds.Recording(path)
            self.assertEqual(recording.resume().hash, report["state_hash"])

    def test_threads(self):
        """Several threads record, and read one recording, whose next read overwrites what was read before."""
        with tempfile.TemporaryDirectory() as folder:
            one, wrong = os.path.join(folder, "one.h5"), []
            ds.Simulation("card-house:levels=3").run(0.4, record=one)
            shared = ds.Recording(one)
            times, frames = shared.times, [frame.poses.tobytes() + frame.contacts.impulse.tobytes() for frame in shared]

            def work(path):
                try:
                    simulation = ds.Simulation("card-house:levels=2")
                    with ds.Recorder(path, simulation) as recorder:
                        for _ in range(100):
                            recorder.append()
                    self.assertEqual(len(ds.Recording(path)), 100)
                    for _ in range(10):
                        for time, wanted, frame in zip(times, frames, shared):
                            self.assertEqual(frame.time, time)
                            self.assertEqual(frame.poses.tobytes() + frame.contacts.impulse.tobytes(), wanted)
                except (AssertionError, ds.Error) as error:
                    wrong.append(error)

            threads = [threading.Thread(target=work, args=(os.path.join(folder, f"{i}.h5"),)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])


class Problems(unittest.TestCase):
    def slide(self):
        """examples/solve.c: a block that slides on two feet, in the plane."""
        mass, inertia, h, g = 2, 0.03, 0.01, 9.81
        H = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [-0.2, 0.1, 0.2, 0.1]])
        return dict(M=np.diag([mass, mass, inertia]), H=H, f=[mass, -mass * g * h, 0], mu=[0.4, 0.4], dimension=2)

    def test_global_and_local(self):
        arguments = self.slide()
        solution = ds.solve(**arguments)
        self.assertEqual(solution.outcome, "solved")
        self.assertAlmostEqual(solution.v[0], 1 - 0.4 * 9.81 * 0.01, 9)
        inverse = np.linalg.inv(arguments["M"])
        W, q = arguments["H"].T @ inverse @ arguments["H"], arguments["H"].T @ inverse @ np.array(arguments["f"])
        local = ds.Problem(W=W, q=q, mu=0.4, dimension=2)
        again = local.solve(tolerance=1e-10)
        np.testing.assert_allclose(again.u, solution.u, atol=1e-8)
        self.assertLess(local.error(again.r), 1e-10)
        self.assertGreater(local.error(again.r + 1), 1e-3)

    def test_files(self):
        path = os.path.join(SOURCE, "problems")
        names = sorted(name for name in os.listdir(path) if name.endswith(".hdf5"))
        names.sort(key=lambda name: os.path.getsize(os.path.join(path, name)))
        for name in names[:3]:
            problem = ds.Problem.read(os.path.join(path, name))
            text = subprocess.run([PROGRAM, "solve", "--json", os.path.join(path, name)], capture_output=True, text=True).stdout
            self.assertEqual(problem.solve().outcome, json.loads(text)["outcome"], name)
            with tempfile.TemporaryDirectory() as folder:
                copy = os.path.join(folder, "copy.dat")
                problem.write(copy)
                self.assertEqual(ds.Problem.read(copy).struct.contacts, problem.struct.contacts)

    def test_wrong(self):
        for arguments in (dict(mu=1), dict(W=np.eye(3), q=[1], mu=1), dict(W=np.eye(3), q=[0, 0, 0], mu=-1),
                          dict(W=np.eye(3), q=[0, np.nan, 0], mu=1), dict(W=np.ones(3), q=[0, 0, 0], mu=1)):
            with self.assertRaises(ds.InputError):
                ds.solve(**arguments)


class Stand(unittest.TestCase):
    def incline(self, slope, mu):
        b = ds.SceneBuilder(friction_rule="min")
        angle = np.arctan(slope)
        turn = {"axis": [0, 1, 0], "radians": angle}
        b.add("slope", ds.box(4, 2, 1), kind="static", rotation=turn, mu=mu)
        b.add("block", ds.box(0.2, 0.2, 0.2), position=np.array([np.sin(angle), 0, np.cos(angle)]) * 0.6, rotation=turn, mu=mu)
        return b.build()

    def test_incline(self):
        self.assertTrue(ds.stand(self.incline(0.5, 0.51)))
        falls = ds.stand(self.incline(0.5, 0.49))
        self.assertEqual(falls.verdict, "FALLS")
        self.assertFalse(falls)
        self.assertIsNone(falls.normal_forces)
        self.assertEqual(falls.mechanism.shape, (2, 6))
        least = ds.Assembly(self.incline(0.5, 0.6)).least_mu()
        self.assertAlmostEqual(least.equilibrium, 0.5, 5)
        self.assertLessEqual(least.falls, 0.5 + 1e-9)

    def test_forces(self):
        assembly = ds.Assembly("stack:count=3")
        verdict = assembly.check()
        self.assertTrue(verdict)
        masses = assembly.blocks["mass"]
        support = int(np.argmax(assembly.blocks["support"]))
        self.assertAlmostEqual(verdict.reaction(support)[2], -masses.sum() * 9.81, delta=1e-6 * masses.sum() * 9.81)
        self.assertEqual(len(verdict.normal_forces), len(assembly.points))
        push = assembly.push([1, 0, 0])
        self.assertGreater(push.falls, push.stands)
        least = assembly.range(0)
        self.assertAlmostEqual(least.low, least.high, delta=1e-6 * least.high)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "proof")
            with open(path, "w") as file:
                file.write(verdict.certificate())
            self.assertEqual(subprocess.run([PROGRAM, "verify", path], capture_output=True).returncode, 0)
        with self.assertRaises(ds.InputError):
            verdict.thrust(99)
        self.assertEqual(len(assembly.without(1).blocks), len(assembly.blocks) - 1)

    def test_files_of_blocks(self):
        """Two boxes with a gap of 1 mm as OBJ: their interface is found at 2 mm, and the scene has it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "boxes.obj")
            with open(path, "w") as file:
                for block in range(2):
                    file.write(f"g box{block}\n")
                    for i in range(8):
                        file.write(f"v {i & 1} {i >> 1 & 1} {(i >> 2) + 1.001 * block}\n")
                    for f in ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)):
                        file.write("f " + " ".join(str(v + 8 * block) for v in f) + "\n")
            boxes = ds.Assembly(path, supports=[0], tolerance=2e-3)
            bricks = os.path.join(folder, "bricks.json")
            with open(bricks, "w") as file:
                json.dump({"1": {"x": 0, "y": 0, "z": 0, "brick_id": 2, "ori": 0}}, file)
            self.assertEqual(ds.Assembly(bricks).check().verdict, "STANDS")
        self.assertEqual(boxes.check().verdict, "STANDS")
        scene = boxes.scene("boxes")
        self.assertEqual((scene.name, len(scene.interfaces), scene.bodies[0].kind), ("boxes", 1, "static"))
        simulation = ds.Simulation(scene)
        start = simulation.state.centers.copy()
        np.testing.assert_array_equal(simulation.run(0.2).state.centers, start)
        with self.assertRaisesRegex(ds.InputError, "it is a scene already"):
            ds.Assembly("stack").scene()

    def test_held_by_friction(self):
        b = ds.SceneBuilder()
        for name, x in (("left", -0.6), ("right", 0.6)):
            b.add(name, ds.box(0.2, 1, 1), kind="static", position=[x, 0, 0], mu=0.5)
        b.add("held", ds.box(1, 0.5, 0.5), position=[0, 0, 0], mu=0.5)
        verdict = ds.stand(b.build())
        self.assertEqual(verdict.verdict, "CAN STAND")
        self.assertTrue(verdict)

    def test_torques(self):
        b = ds.SceneBuilder(gravity=[0, 0, -10])
        b.add("ground", ds.box(4, 4, 1), kind="static", position=[0, 0, -0.5], mu=1)
        b.add("block", ds.box(0.2, 0.2, 0.2), position=[0, 0, 0.1], mass=8, mu=1)
        assembly = ds.Assembly(b.build())
        turn = np.zeros((2, 3))
        turn[assembly.names.index("block"), 1] = 1
        self.assertAlmostEqual(assembly.load(np.zeros((2, 3)), turn).falls, 8 * 10 * 0.1, 4)  # N m, about its edge


class Vector(unittest.TestCase):
    def scene(self):
        b = builder(options={"step": 0.005})
        b.add("puck", ds.cylinder(0.1, 0.05), position=[0, 0, 0.025], mass=1)
        return b.build()

    def env(self, threads, **keys):
        def act(env, actions):
            env.forces[:, 1, :2] = actions

        def start(env, i, rng):
            env.states[i].set_velocity("puck", [rng.uniform(-1, 1), rng.uniform(-1, 1), 0])

        return ds.VectorEnv(self.scene(), 9, steps=3, threads=threads, act=act, start=start,
                            reward=lambda env: -np.hypot(env.poses[:, 1, 0], env.poses[:, 1, 1]), **keys)

    def test_threads_and_single_runs_agree(self):
        results = []
        for threads in (1, 2):
            env = self.env(threads)
            first, info = env.reset(seed=5)
            self.assertEqual(first.shape, (9, 2, 13))
            actions = np.linspace(-20, 20, 18).reshape(9, 2)
            for _ in range(20):
                observations, rewards, terminated, truncated, info = env.step(actions)
            results.append((observations, [state.hash for state in env.states], rewards))
        np.testing.assert_array_equal(results[0][0], results[1][0])
        self.assertEqual(results[0][1], results[1][1])
        alone = ds.Simulation(env.scenes[0])
        alone.state.set_velocity("puck", first[4, 1, 7:10])
        for _ in range(60):
            alone.state.forces[1, :2] = actions[4]
            alone.step()
        self.assertEqual(alone.hash, results[0][1][4])
        self.assertTrue((rewards < 0).all() and not info["unconverged"].any())

    def test_episodes(self):
        env = self.env(1, max_episode_steps=3, terminated=lambda env: env.poses[:, 1, 0] > 0.02)
        env.reset(seed=1)
        actions = np.zeros((9, 2))
        actions[0] = [200, 0]
        ends = []
        for _ in range(4):
            observations, rewards, terminated, truncated, _ = env.step(actions)
            ends.append((terminated.copy(), truncated.copy()))
            if len(ends) > 1:  # those that are reset have no reward
                reset = ends[-2][0] | ends[-2][1]
                self.assertTrue((rewards[reset] == 0).all() and (rewards[~reset] < 0).all())
        self.assertTrue(any(t[0] for t, _ in ends))
        self.assertTrue(ends[2][1][1:].any())
        self.assertFalse((ends[3][0] | ends[3][1])[ends[2][1]].any())
        self.assertEqual(env.episode_steps[ends[2][1]].max(), 0)
        with self.assertRaises(ds.InputError):
            env.step(np.full((9, 2), np.nan))
        seen = []

        def turn(env, actions):
            seen.append(float(np.abs(env.forces).max() + np.abs(env.torques).max()))
            env.forces[:], env.torques[:] = 0.01, 0.01

        env = ds.VectorEnv(self.scene(), 2, act=turn)
        env.reset(seed=1)
        for _ in range(2):
            env.step(None)
        self.assertEqual(seen, [0, 0])  # forces and torques are those of one step
        with self.assertRaises(ds.InputError):
            ds.VectorEnv([ds.Scene("stack:count=2"), ds.Scene("stack:count=3")])


class Show(unittest.TestCase):
    def test_show(self):
        os.environ["DRYSTONE_PROGRAM"] = PROGRAM
        if "--embed" not in subprocess.run([PROGRAM, "help", "view"], capture_output=True, text=True).stdout:
            self.skipTest("the program has no view")
        for source in (ds.Scene("stack:count=2"), ds.Simulation("stack:count=2")):
            with ds.show(source, height=300) as page:
                self.assertIn(f'<iframe src="{page.url}"', page._repr_html_())
                with urllib.request.urlopen(page.url, timeout=10) as answer:
                    self.assertNotIn("frame-ancestors 'none'", answer.headers["content-security-policy"])
                    self.assertIn(b"<html", answer.read())
        with self.assertRaises(ds.InputError):
            ds.show("no-such-scene")


if __name__ == "__main__":
    signal.alarm(300)
    unittest.main(argv=sys.argv[:1], verbosity=1)
