#!/usr/bin/env python3
"""Verifies certificates of `drystone stand` in exact arithmetic. It shares no code with the solver.

usage: scripts/verify-stand.py CERTIFICATE.json...

FALLS: a motion under which every point of every interface separates as friction asks, u.n >= 0 and
(u.n)² (1 + mu²) >= mu² |u|² |n|², on which the loads do positive work. No forces within the friction cones can then hold
the assembly at rest. This is a complete proof for the numbers in the file.
CAN STAND: forces within the cones, f.n >= 0 and |f|² |n|² <= (1 + mu²) (f.n)², which balance all loads.
STANDS: forces along the normals alone, which balance all loads.
Balance holds but for a rest of at most REST of a block's weight: a proof for loads that differ by the rest.

Exit status: 0 all hold, 1 one does not, 2 a file that is no certificate.
"""
import json
import sys
from fractions import Fraction

REST = Fraction(1, 10**9)  # of the weight of a block, and times the distance of its farthest point for torques


class Bad(Exception):
    """The file is no certificate."""


class Wrong(Exception):
    """What it claims does not hold."""


def number(text):
    """"m", "m/2^k" or "m*2^k"."""
    if not isinstance(text, str):
        raise Bad(f"a number must be a text, not {text!r}")
    for sign in "/*":
        if sign + "2^" in text:
            whole, exponent = text.split(sign + "2^")
            power = 2 ** int(exponent)
            return Fraction(int(whole), power) if sign == "/" else Fraction(int(whole) * power)
    return Fraction(int(text))


def vector(texts):
    if not isinstance(texts, list) or len(texts) != 3:
        raise Bad("a vector has three numbers")
    return tuple(number(t) for t in texts)


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def scale(s, a):
    return tuple(s * x for x in a)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


class Assembly:
    def __init__(self, data):
        self.gravity = vector(data["gravity"])
        self.names, self.support, self.mass, self.center, self.load, self.torque = [], [], [], [], [], []
        for block in data["blocks"]:
            self.names.append(str(block["name"]))
            self.support.append(bool(block["support"]))
            self.mass.append(number(block["mass"]))
            self.center.append(vector(block["center"]))
            self.load.append(add(vector(block["force"]), scale(self.mass[-1], self.gravity)))
            self.torque.append(vector(block["torque"]))
            if not self.support[-1] and self.mass[-1] <= 0:
                raise Bad(f"block {self.names[-1]} has no mass")
        self.points = []  # (a, b, mu, normal, point)
        for face in data["interfaces"]:
            a, b, mu, normal = face["a"], face["b"], number(face["mu"]), vector(face["normal"])
            if a == b or not 0 <= min(a, b) <= max(a, b) < len(self.names):
                raise Bad(f"an interface between blocks {a} and {b}")
            if mu < 0 or abs(dot(normal, normal) - 1) > Fraction(1, 10**5):
                raise Bad("an interface with negative friction, or whose normal is not of unit length")
            self.points += [(a, b, mu, normal, vector(p)) for p in face["points"]]


def check_mechanism(assembly, data):
    motion = [(vector(v), vector(w)) for v, w in data["mechanism"]]
    if len(motion) != len(assembly.names):
        raise Bad("a motion for each block is needed")
    power = Fraction(0)
    for i, (v, w) in enumerate(motion):
        if assembly.support[i] and any(v + w):
            raise Wrong(f"support {assembly.names[i]} moves")
        power += dot(assembly.load[i], add(v, cross(w, assembly.center[i]))) + dot(assembly.torque[i], w)
    if power <= 0:
        raise Wrong("the loads do no work on the motion")
    for a, b, mu, normal, point in assembly.points:
        u = add(sub(motion[b][0], motion[a][0]), cross(sub(motion[b][1], motion[a][1]), point))
        un = dot(u, normal)
        if un < 0 or un * un * (1 + mu * mu) < mu * mu * dot(u, u) * dot(normal, normal):
            raise Wrong(f"blocks {assembly.names[a]} and {assembly.names[b]} do not separate as their friction asks")
    return "no forces within the friction cones hold it at rest"


def check_balance(assembly, forces):
    """forces: on block b, one per point. The largest squared rest over the square of what is allowed."""
    count = len(assembly.names)
    force, torque, arm2 = list(assembly.load), list(assembly.torque), [Fraction(0)] * count
    for (a, b, _, _, point), f in zip(assembly.points, forces):
        for block, g in ((a, scale(-1, f)), (b, f)):
            arm = sub(point, assembly.center[block])
            force[block] = add(force[block], g)
            torque[block] = add(torque[block], cross(arm, g))
            arm2[block] = max(arm2[block], dot(arm, arm))
    free = [i for i in range(count) if not assembly.support[i]]
    if not free:
        return Fraction(0)
    mean = sum(assembly.mass[i] for i in free) / len(free)
    g2, worst = dot(assembly.gravity, assembly.gravity), Fraction(0)
    largest2 = max(dot(assembly.load[i], assembly.load[i]) for i in free)
    for i in free:
        weight2 = max(assembly.mass[i], mean) ** 2 * g2 or largest2 or Fraction(1)
        rest2, turn2 = dot(force[i], force[i]), dot(torque[i], torque[i])
        if rest2 > REST**2 * weight2 or turn2 > REST**2 * weight2 * arm2[i]:
            raise Wrong(f"block {assembly.names[i]} is not balanced: "
                        f"{float(rest2) ** 0.5:.3g} N, {float(turn2) ** 0.5:.3g} N m")
        worst = max(worst, rest2 / weight2)
    return worst


def check_forces(assembly, data):
    forces = []
    if len(data["forces"]) != len(assembly.points):
        raise Bad("a force for each point is needed")
    for (a, b, mu, normal, _), (s, t) in zip(assembly.points, data["forces"]):
        f = add(scale(number(s), normal), vector(t))
        fn = dot(f, normal)
        if fn < 0 or dot(f, f) * dot(normal, normal) > (1 + mu * mu) * fn * fn:
            raise Wrong(f"a force between blocks {assembly.names[a]} and {assembly.names[b]} is not in its cone")
        forces.append(f)
    rest = check_balance(assembly, forces)
    return f"an equilibrium exists, to {float(rest) ** 0.5:.1e} of a block's weight"


def check_pressure(assembly, data):
    pressure = [number(s) for s in data["pressure"]]
    if len(pressure) != len(assembly.points):
        raise Bad("a pressure for each point is needed")
    if any(s < 0 for s in pressure):
        raise Wrong("a point pulls")
    rest = check_balance(assembly, [scale(s, p[3]) for s, p in zip(pressure, assembly.points)])
    return f"an equilibrium without friction exists, to {float(rest) ** 0.5:.1e} of a block's weight"


def verify(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("drystone_certificate") != 1:
            raise Bad('expected an object with "drystone_certificate": 1')
        verdict = data["verdict"]
        checks = {"FALLS": check_mechanism, "CAN STAND": check_forces, "STANDS": check_pressure}
        if verdict not in checks:
            raise Wrong(f"{verdict} claims nothing")
        print(f"{path}: valid: {verdict}: {checks[verdict](Assembly(data), data)}")
        return 0
    except Wrong as error:
        print(f"{path}: not valid: {error}")
        return 1
    except (OSError, ValueError, KeyError, TypeError, IndexError, Bad) as error:
        print(f"{path}: no certificate: {error!r}", file=sys.stderr)
        return 2


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(max(verify(path) for path in sys.argv[1:]))


main()
