#!/usr/bin/env python3
"""Verifies certificates of `drystone stand` in exact arithmetic. It shares no code with the solver.

usage: scripts/verify-stand.py CERTIFICATE.json...

FALLS: a motion under which every point of every interface separates as friction asks, u.n >= 0 and
(u.n)² (1 + mu²) >= mu² |u|² |n|², on which the loads do positive work. No forces within the friction cones can then hold
the assembly at rest. This is a complete proof for the numbers in the file.
CAN STAND: forces within the cones, f.n >= 0 and |f|² |n|² <= (1 + mu²) (f.n)², which balance all loads.
Where an interface has tension T, f + T n is in the cone, and the work of T is taken from that of the loads. Where points
crush at a force P, f.n <= P, and a motion may overlap: by a rate z >= 0, whose work (P + T) z is taken.
STANDS: forces along the normals alone, which balance all loads; or a proof in the plane, for motions in it: lower bounds
of the normal forces of every solution, and forces whose friction is within these bounds (docs/stand-mathematics.md).
Balance holds but for a rest of at most REST of a block's weight: a proof for loads that differ by the rest.

Exit status: 0 all hold, 1 one does not, 2 a file that is no certificate.
"""
import json
import sys
from fractions import Fraction

REST = Fraction(1, 10**9)  # of the weight of a block; for torques times the distance of its farthest point


class Bad(Exception): """The file is no certificate."""
class Wrong(Exception): """What it claims does not hold."""
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


def add(a, b): return tuple(x + y for x, y in zip(a, b))
def sub(a, b): return tuple(x - y for x, y in zip(a, b))
def scale(s, a): return tuple(s * x for x in a)
def dot(a, b): return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


class Assembly:
    def __init__(self, data):
        self.gravity = vector(data["gravity"])
        self.names, self.support, self.mass, self.center, self.load, self.torque = [], [], [], [], [], []
        self.inertia, self.faces = [], []  # faces: ranges of points
        for block in data["blocks"]:
            self.names.append(str(block["name"]))
            self.support.append(bool(block["support"]))
            self.mass.append(number(block["mass"]))
            self.center.append(vector(block["center"]))
            self.load.append(add(vector(block["force"]), scale(self.mass[-1], self.gravity)))
            self.torque.append(vector(block["torque"]))
            self.inertia.append(vector(block["inertia"]))
            if not self.support[-1] and min(self.mass[-1], *self.inertia[-1]) <= 0:
                raise Bad(f"block {self.names[-1]} has no mass or inertia")
        self.points = []  # (a, b, mu, normal, point)
        self.tension, self.strength = [], []  # one per point; strength: 0 is unlimited
        for face in data["interfaces"]:
            a, b, mu, normal = face["a"], face["b"], number(face["mu"]), vector(face["normal"])
            if a == b or not 0 <= min(a, b) <= max(a, b) < len(self.names):
                raise Bad(f"an interface between blocks {a} and {b}")
            if mu < 0 or abs(dot(normal, normal) - 1) > Fraction(1, 10**5):
                raise Bad("an interface with negative friction, or whose normal is not of unit length")
            self.faces.append(range(len(self.points), len(self.points) + len(face["points"])))
            self.points += [(a, b, mu, normal, vector(p)) for p in face["points"]]
            self.tension += [number(face.get("tension", "0"))] * len(face["points"])
            self.strength += [number(t) for t in face.get("strength", ["0"] * len(face["points"]))]
        if len(self.strength) != len(self.points) or min(self.tension + self.strength, default=0) < 0:
            raise Bad("a tension or strength that is negative or missing")


def check_mechanism(assembly, data):
    motion = [(vector(v), vector(w)) for v, w in data["mechanism"]]
    if len(motion) != len(assembly.names):
        raise Bad("a motion for each block is needed")
    power = Fraction(0)
    for i, (v, w) in enumerate(motion):
        if assembly.support[i] and any(v + w):
            raise Wrong(f"support {assembly.names[i]} moves")
        power += dot(assembly.load[i], add(v, cross(w, assembly.center[i]))) + dot(assembly.torque[i], w)
    crush = [number(t) for t in data.get("crush", ["0"] * len(assembly.points))]
    for k, (a, b, mu, normal, point) in enumerate(assembly.points):
        u = add(sub(motion[b][0], motion[a][0]), cross(sub(motion[b][1], motion[a][1]), point))
        power -= assembly.tension[k] * dot(u, normal)
        if crush[k] < 0 or (crush[k] > 0 and assembly.strength[k] == 0):
            raise Wrong("a point crushes whose strength is unlimited")
        power -= crush[k] * (assembly.strength[k] + assembly.tension[k]) * dot(normal, normal)
        u = add(u, scale(crush[k], normal))
        un = dot(u, normal)
        if un < 0 or un * un * (1 + mu * mu) < mu * mu * dot(u, u) * dot(normal, normal):
            raise Wrong(f"blocks {assembly.names[a]} and {assembly.names[b]} do not separate as their friction asks")
    if power <= 0:
        raise Wrong("the loads do no work on the motion")
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
    for k, ((a, b, mu, normal, _), (s, t)) in enumerate(zip(assembly.points, data["forces"])):
        f = add(scale(number(s) + assembly.tension[k], normal), vector(t))
        fn = dot(f, normal)
        if 0 < assembly.strength[k] < number(s):
            raise Wrong(f"a force between blocks {assembly.names[a]} and {assembly.names[b]} crushes")
        if fn < 0 or dot(f, f) * dot(normal, normal) > (1 + mu * mu) * fn * fn:
            raise Wrong(f"a force between blocks {assembly.names[a]} and {assembly.names[b]} is not in its cone")
        forces.append(sub(f, scale(assembly.tension[k], normal)))
    rest = check_balance(assembly, forces)
    return f"an equilibrium exists, to {float(rest) ** 0.5:.1e} of a block's weight"


def check_pressure(assembly, data):
    pressure = [number(s) for s in data["pressure"]]
    if len(pressure) != len(assembly.points):
        raise Bad("a pressure for each point is needed")
    if any(s < -t or 0 < most < s for s, t, most in zip(pressure, assembly.tension, assembly.strength)):
        raise Wrong("a point pulls, or crushes")
    rest = check_balance(assembly, [scale(s, p[3]) for s, p in zip(pressure, assembly.points)])
    return f"an equilibrium without friction exists, to {float(rest) ** 0.5:.1e} of a block's weight"


class Plane:
    """The assembly in the plane of the two axes after `axis`."""

    def __init__(self, assembly, axis):
        self.it, self.axis, self.first, self.second = assembly, axis, (axis + 1) % 3, (axis + 2) % 3
        tiny = Fraction(1, 10**9)
        if abs(assembly.gravity[axis]) > tiny * max(map(abs, assembly.gravity)):
            raise Wrong("gravity is not in the plane")
        self.free = [i for i, support in enumerate(assembly.support) if not support]
        for i in self.free:
            other = sub(assembly.load[i], scale(assembly.mass[i], assembly.gravity))[axis]
            if other or assembly.torque[i][self.first] or assembly.torque[i][self.second]:
                raise Wrong("a load is not in the plane")
        middle = assembly.center[self.free[0]][axis] if self.free else 0
        if any(abs(assembly.center[i][axis] - middle) > tiny for i in self.free):
            raise Wrong("centres are not in one plane")
        for face in assembly.faces:
            places = [assembly.points[k][4] for k in face]
            twins = [tuple(2 * middle - x if i == axis else x for i, x in enumerate(p)) for p in places]
            if any(min(max(map(abs, sub(p, twin))) for p in places) > tiny for twin in twins):
                raise Wrong("a joint is not its own mirror image")
            normal, start = self.flat(assembly.points[face[0]][3]), self.flat(assembly.points[face[0]][4])
            away = [sub(self.flat(assembly.points[k][4]), start) for k in face]
            length = max(abs(dot(self.turn(normal), d)) for d in away)
            if abs(assembly.points[face[0]][3][axis]) > tiny:
                raise Wrong("a normal is not in the plane")
            if max(abs(dot(normal, d)) for d in away) > tiny * max(length, Fraction(1, 1000)):
                raise Wrong("a joint is not straight")

    def flat(self, v):
        return (v[self.first], v[self.second])

    @staticmethod
    def turn(n):
        return (-n[1], n[0])

    def load(self, i):
        return self.flat(self.it.load[i]) + (self.it.torque[i][self.axis],)

    def row(self, k, direction):
        """Block -> (two velocities, rotation) whose product with its motion is the slip at point k along a direction."""
        a, b, _, _, point = self.it.points[k]
        rows = {}
        for block, sign in ((a, -1), (b, 1)):
            if not self.it.support[block]:
                x, z = sub(self.flat(point), self.flat(self.it.center[block]))
                rows[block] = tuple(sign * c for c in (*direction, x * direction[1] - z * direction[0]))
        return rows


def check_bound(plane, bound, rho):
    it, target = plane.it, bound["interface"]
    y, pi, beta = ([number(t) for t in bound[key]] for key in ("y", "pi", "beta"))
    alpha, value = number(bound["alpha"]), number(bound["rho"])
    if len(y) != 3 * len(it.names) or len(pi) != len(it.points) or len(beta) != len(it.faces) or not it.faces[target]:
        raise Bad("a bound with too few multipliers")
    if alpha <= 0 or min(pi) < 0:
        raise Wrong("a multiplier of a bound is negative")
    q = {i: [(it.mass[i] if j < 2 else it.inertia[i][plane.axis]) * y[3 * i + j] - alpha * plane.load(i)[j]
             for j in range(3)] for i in plane.free}
    for j, face in enumerate(it.faces):
        mu, normal = it.points[face[0]][2], plane.flat(it.points[face[0]][3])
        if abs(beta[j]) > alpha * mu * rho[j]:
            raise Wrong("a multiplier of friction is too large")
        for k in face:
            along, across = plane.row(k, normal), plane.row(k, plane.turn(normal))
            yn = sum(dot(row, y[3 * i:3 * i + 3]) for i, row in along.items())
            yt = sum(dot(row, y[3 * i:3 * i + 3]) for i, row in across.items())
            if (dot(normal, normal) if j == target else 0) - yn < mu * abs(yt):
                raise Wrong("the motion of a bound is not in the dual cone")
            for i, row in along.items():
                q[i] = sub(q[i], scale(pi[k], row))
            if k == face[0]:
                for i, row in across.items():
                    q[i] = add(q[i], scale(beta[j], row))
    square = sum(q[i][j] ** 2 / (it.mass[i] if j < 2 else it.inertia[i][plane.axis]) for i in plane.free for j in range(3))
    if value > -sum(dot(y[3 * i:3 * i + 3], plane.load(i)) for i in plane.free) - square / (4 * alpha):
        raise Wrong("a bound is larger than its multipliers prove")
    rho[target] = max(rho[target], value)


def check_planar(assembly, data):
    proof = data["planar"]
    if any(assembly.tension + assembly.strength):
        raise Wrong("a proof in the plane is for interfaces without tension and crushing")
    plane, rho = Plane(assembly, proof["axis"]), [Fraction(0)] * len(assembly.faces)
    for bound in proof["bounds"]:
        check_bound(plane, bound, rho)
    normal, tangent = ([number(t) for t in proof[key]] for key in ("normal", "tangent"))
    if not len(normal) == len(tangent) == len(assembly.points):
        raise Bad("a force for each point is needed")
    rest = {i: plane.load(i) for i in plane.free}
    for j, face in enumerate(assembly.faces):
        if min(normal[k] for k in face) < 0:
            raise Wrong("a point pulls")
        if abs(sum(tangent[k] for k in face)) > assembly.points[face[0]][2] * rho[j]:
            raise Wrong("a joint needs more friction than is proven")
        n = plane.flat(assembly.points[face[0]][3])
        for k in face:
            for s, direction in ((normal[k], n), (tangent[k], plane.turn(n))):
                for i, row in plane.row(k, direction).items():
                    rest[i] = add(rest[i], scale(s, row))
    mean, g2 = sum(assembly.mass[i] for i in plane.free) / len(plane.free), dot(assembly.gravity, assembly.gravity)
    for i in plane.free:
        allowed2 = REST**2 * max(assembly.mass[i], mean) ** 2 * g2
        arm2 = assembly.inertia[i][plane.axis] / assembly.mass[i]
        if dot(rest[i][:2], rest[i][:2]) > allowed2 or rest[i][2] ** 2 > allowed2 * arm2:
            raise Wrong(f"block {assembly.names[i]} is not balanced")
    return "every solution is at rest, for motions in the plane"


def verify(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("drystone_certificate") != 1:
            raise Bad('expected an object with "drystone_certificate": 1')
        verdict = data["verdict"]
        checks = {"FALLS": check_mechanism, "CAN STAND": check_forces, "STANDS": check_planar if "planar" in data else check_pressure}
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
