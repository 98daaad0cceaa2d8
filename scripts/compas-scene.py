#!/usr/bin/env python3
"""Converts an assembly of blocks from compas_cra or compas_assembly (JSON) to a Drystone scene.

usage: scripts/compas-scene.py ASSEMBLY.json -o SCENE.json [--supports 0,1] [--mu 0.84] [--density 2500] [--as hulls|solids]

Every block becomes a body: as the convex hull of its vertices, or as a solid with the block's own faces, written as OBJ
files into a folder beside the scene. Supports are static: those that the file marks, and those named by --supports. The
assembly's frame is kept: z is up, lengths are metres.
"""
import argparse
import json
import os
import sys


def fail(message):
    sys.exit("compas-scene.py: " + message)


def read_nodes(path):
    """The assembly's nodes by their key: (block, is support)."""
    try:
        with open(path, encoding="utf-8") as file:
            top = json.load(file)
        graph = top["data"]["graph"]
        graph = graph.get("data", graph)
        default = graph.get("default_node_attributes", {}).get("is_support", False)
        nodes = {}
        for key, node in graph["node"].items():
            block = node["block"]
            nodes[str(key).strip("'\"")] = (block.get("data", block), bool(node.get("is_support", default)))
        return nodes
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        fail(f"{path}: not an assembly of blocks ({error!r})")


def mesh_of(block):
    """Vertices, and faces as lists of indices."""
    keys = sorted(block["vertex"], key=int)
    index = {key: i for i, key in enumerate(keys)}
    points = [[float(block["vertex"][key][axis]) for axis in "xyz"] for key in keys]
    faces = [[index[str(v)] for v in block["face"][key]] for key in sorted(block["face"], key=int)]
    return points, faces


def minus(a, b):
    return [a[i] - b[i] for i in range(3)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def without_repeats(face):
    """A face whose loop names a vertex twice in a row, once."""
    return [v for i, v in enumerate(face) if v != face[i - 1]]


def triangles_of(points, face):
    """A simple polygon cut into triangles, ear by ear; the roundest ear first, so that no sliver is left over."""
    normal = [0.0, 0.0, 0.0]
    for i, v in enumerate(face):  # Newell's sum
        a, b = points[face[i - 1]], points[v]
        normal = [n + c for n, c in zip(normal, cross(a, b))]
    loop, triangles = list(face), []

    def turn(a, b, c):
        return dot(normal, cross(minus(points[b], points[a]), minus(points[c], points[a])))

    def worth(i):
        """Area over the square of the longest side; nothing where it is no ear."""
        a, b, c = loop[i - 1], loop[i], loop[(i + 1) % len(loop)]
        area = turn(a, b, c)
        if area <= 0:
            return 0
        for v in loop:
            if v not in (a, b, c) and turn(a, b, v) >= 0 and turn(b, c, v) >= 0 and turn(c, a, v) >= 0:
                return 0
        sides = [minus(points[a], points[b]), minus(points[b], points[c]), minus(points[c], points[a])]
        return area / max(dot(s, s) for s in sides)

    while len(loop) > 3:
        best = max(range(len(loop)), key=worth)
        triangles.append((loop[best - 1], loop[best], loop[(best + 1) % len(loop)]))
        del loop[best]
    return triangles + [tuple(loop)]


def pierces(points, edge, triangle):
    """Whether an edge goes through a triangle with which it has no vertex in common."""
    if set(edge) & set(triangle):
        return False
    p, q = (points[v] for v in edge)
    a, b, c = (points[v] for v in triangle)

    def volume(x, y, z, w):
        return dot(minus(y, x), cross(minus(z, x), minus(w, x)))

    if volume(p, a, b, c) * volume(q, a, b, c) >= 0:
        return False
    sides = [volume(p, q, x, y) for x, y in ((a, b), (b, c), (c, a))]
    return all(v > 0 for v in sides) or all(v < 0 for v in sides)


def crossings(points, parts):
    """How often triangles cut each other."""
    triangles = [t for part in parts for t in part]
    edges = {tuple(sorted((t[i - 1], t[i]))) for t in triangles for i in range(3)}
    return sum(pierces(points, edge, t) for edge in edges for t in triangles)


def triangulate(points, faces):
    """Triangles of every face. Where warped faces cut each other, quadrilaterals are cut along their other diagonal."""
    faces = [without_repeats(face) for face in faces]
    parts = [triangles_of(points, face) for face in faces]
    left = crossings(points, parts)
    for i, face in enumerate(faces):
        if left == 0:
            break
        if len(face) != 4:
            continue
        a, b, c, d = face
        one, other = [(a, b, c), (a, c, d)], [(b, c, d), (b, d, a)]
        uses_ac = any({a, c} <= set(t) for t in parts[i]) and not any({b, d} <= set(t) for t in parts[i])
        changed = parts[:i] + [other if uses_ac else one] + parts[i + 1:]
        count = crossings(points, changed)
        if count < left:
            parts, left = changed, count
    return [t for part in parts for t in part]


def closed_mesh(points, faces):
    """Triangles turned outward."""
    triangles = triangulate(points, faces)
    volume = sum(dot(points[a], cross(points[b], points[c])) for a, b, c in triangles)
    return triangles if volume > 0 else [(a, c, b) for a, b, c in triangles]


def write_obj(path, points, triangles):
    with open(path, "w", encoding="ascii") as file:
        for p in points:
            file.write("v %.17g %.17g %.17g\n" % tuple(p))
        for t in triangles:
            file.write("f %d %d %d\n" % tuple(v + 1 for v in t))


def middle_of(points):
    return [sum(p[i] for p in points) / len(points) for i in range(3)]


def arguments():
    parser = argparse.ArgumentParser(description="Converts a compas_cra assembly to a Drystone scene.")
    parser.add_argument("assembly", help="JSON file of compas_cra or compas_assembly")
    parser.add_argument("-o", "--output", required=True, help="scene to write")
    parser.add_argument("--supports", default="", help="keys of blocks that are fixed, besides those that the file marks: 0,1")
    parser.add_argument("--mu", type=float, default=0.84, help="friction coefficient of all blocks (default 0.84)")
    parser.add_argument("--density", type=float, default=2500, help="kg/m3 (default 2500)")
    parser.add_argument("--as", dest="kind", choices=("hulls", "solids"), default="hulls", help="shape of the blocks")
    return parser.parse_args()


def main():
    given = arguments()
    nodes = read_nodes(given.assembly)
    supports = {key.strip() for key in given.supports.split(",") if key.strip()}
    unknown = supports - set(nodes)
    if unknown:
        fail(f"{given.assembly}: no block {', '.join(sorted(unknown))}; there are {len(nodes)}")
    name = os.path.splitext(os.path.basename(given.assembly))[0]
    stem = os.path.splitext(given.output)[0]
    bodies, solids = [], {}
    if given.kind == "solids":
        os.makedirs(stem + "-blocks", exist_ok=True)
    for key in sorted(nodes, key=int):
        block, fixed = nodes[key]
        points, faces = mesh_of(block)
        middle = middle_of(points)
        points = [minus(p, middle) for p in points]
        body = {"name": "block" + key, "position": middle, "mu": given.mu, "density": given.density}
        if fixed or key in supports:
            body = {"name": "block" + key, "kind": "static", "position": middle, "mu": given.mu}
        if given.kind == "hulls":
            body["shapes"] = [{"kind": "hull", "points": points}]
        else:
            path = f"{stem}-blocks/block{key}.obj"
            write_obj(path, points, closed_mesh(points, faces))
            solids["block" + key] = {"file": f"{os.path.basename(stem)}-blocks/block{key}.obj"}
            body["shapes"] = [{"kind": "solid", "solid": "block" + key}]
        bodies.append(body)
    scene = {"drystone": 1, "name": name[:63], "allow_overlap": True}
    if solids:
        scene["solids"] = solids
    scene["bodies"] = bodies
    with open(given.output, "w", encoding="utf-8") as file:
        json.dump(scene, file, indent=1)
        file.write("\n")
    fixed = sum(body.get("kind") == "static" for body in bodies)
    print(f"{given.output}: {len(bodies)} blocks, {fixed} of them fixed")


main()
