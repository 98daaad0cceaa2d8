"""Drystone: rigid and deformable bodies with exact Coulomb friction, certified in every step.

    import drystone
    simulation = drystone.Simulation("card-house:levels=3")
    simulation.run(1.0)
    print(simulation.report.worst.converged, simulation.contacts)

Everything is in SI units; z is up. docs/python.md is a tour.
"""
from . import _structs as structs
from ._library import Error, InputError, NotFiniteError, library
from .notebook import Page, program, show
from .problem import Problem, Solution, solve
from .recording import Frame, Recorder, Recording
from .scene import (Body, Interface, Joint, Options, Scene, SceneBuilder, box, capsule, choices, cylinder, generators,
                    half_space, hull, shape, sphere)
from .simulation import MODES, Contacts, Hand, Simulation, State
from .stand import Assembly, Multiplier, Verdict, stand
from .vector import VectorEnv

__version__: str = library.ds_version().decode()

__all__ = [
    "Assembly", "Body", "Contacts", "Error", "Frame", "Hand", "InputError", "Interface", "Joint", "MODES", "Multiplier",
    "NotFiniteError", "Options", "Page", "Problem", "Recorder", "Recording", "Scene", "SceneBuilder", "Simulation", "Solution", "State",
    "VectorEnv", "Verdict", "box", "capsule", "choices", "cylinder", "generators", "half_space", "hull", "program", "shape",
    "show", "solve", "sphere", "stand", "structs",
]
