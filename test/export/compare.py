"""Exports of one recording against each other: compare.py NAME STEP READ.json, in the folder of NAME.pvd, .obj, .csv.

What VTK reads of .vtp and .obj, where it is installed, and what other readers have read of .glb and .usda (READ.json, of
read.mjs) has to be the same as what this script computes of the tables: poses, contact forces.
"""
import csv
import json
import re
import sys
import xml.etree.ElementTree

import numpy as np

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

name, step, read = sys.argv[1], float(sys.argv[2]), sys.argv[3]
faults = []


def near(what, a, b, tolerance):
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape or a.size == 0:
        faults.append(f"{what}: shapes {a.shape} and {b.shape}")
    elif not np.abs(a - b).max() <= tolerance:
        faults.append(f"{what}: differs by {np.abs(a - b).max():.3g}")


def rows(table):
    with open(f"{name}-{table}.csv") as file:
        return list(csv.DictReader(file))


def box(points):
    points = np.asarray(points)
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


results = {line["file"]: line for line in map(json.loads, open(read))}
for file, result in results.items():
    if "problems" in result and (result["problems"] or result["animations"] != 1):
        faults.append(f"{file}: {result['messages']}")
bodies, contacts = rows("bodies"), rows("contacts")
last = bodies[-1]["time"]
glb = list(results[f"{name}.glb"]["points"].values())
usda = list(results[f"{name}.usda"]["points"].values())


def placed(local, w, q, x):
    """Points by a quaternion w, q and a translation x."""
    local, q = np.asarray(local, float), np.asarray(q, float)
    return local + 2 * w * np.cross(q, local) + 2 * np.cross(q, np.cross(q, local)) + np.asarray(x, float)


def last_value(block, name):
    """The vectors that an attribute of a USD layer has at the end: its last sample, or its only value."""
    samples = re.search(re.escape(name) + r"\.timeSamples = \{(.*?)\n\s*\}", block, re.S)
    value = samples[1].strip().splitlines()[-1].partition(":")[2] if samples else re.search(
        re.escape(name) + r" = (.*)", block)[1]
    return [np.array(x.split(","), float) for x in re.findall(r"\(([^()]*)\)", value)]


near("as many bodies in .glb", len(glb), len({row["body"] for row in bodies}), 0)
# .usda has a vertex per corner of a triangle: boxes around the bodies are compared
text = open(f"{name}.usda").read().split("    def Xform ")[1:]
for i, (a, b) in enumerate(zip(glb, usda)):
    samples = text[i].partition("points.timeSamples = {")[2].strip().splitlines()
    if samples:  # three.js reads no points over time: the last sample, placed by the table
        last_sample = samples[[line.strip() for line in samples].index("}") - 1]
        local = np.array(re.findall(r"\(([^()]*)\)", last_sample.partition(":")[2].replace("[", "").replace("]", "")))
        local = np.array([np.fromstring(x, sep=",") for x in local])
        row = [r for r in bodies if r["time"] == last and int(r["body"]) == i][0]
        b = placed(local, float(row["qw"]), [float(row["q" + c]) for c in "xyz"], [float(row[c]) for c in "xyz"])
    near(f"body {i} in .glb and .usda", box(a), box(b), 2e-6 * max(1, np.abs(a).max()))

usd = results[f"{name}.usda"].get("usd")
if usd and (usd["messages"] or usd["meshes"] != len(glb)):
    faults.append(f"{name}.usda by TinyUSDZ: {usd['messages'] or usd['meshes']}")
elif usd:
    blocks = usd["layer"].split("    def Xform ")[1:]
    near("bodies by TinyUSDZ", len(blocks), len(glb), 0)
    for i, (a, block) in enumerate(zip(glb, blocks)):
        turn = last_value(block, "quatd xformOp:orient")[0]
        b = placed(last_value(block, "point3f[] points"), turn[0], turn[1:], last_value(block, "double3 xformOp:translate")[0])
        near(f"body {i} in .glb and by TinyUSDZ", box(a), box(b), 2e-6 * max(1, np.abs(a).max()))

if vtk:
    frames = [e.attrib for e in xml.etree.ElementTree.parse(f"{name}.pvd").iter("DataSet")]
    near("times of .pvd", [float(f["timestep"]) for f in frames if f["part"] == "0"],
         sorted({float(row["time"]) for row in bodies}), 1e-9)

    def polydata(path, kind=vtk.vtkXMLPolyDataReader):
        reader = kind()
        reader.SetFileName(path)
        reader.Update()
        return reader.GetOutput()

    surfaces, marks = polydata(frames[-2]["file"]), polydata(frames[-1]["file"])
    world = vtk_to_numpy(surfaces.GetPoints().GetData())
    near("points in .vtp and .glb", world, np.concatenate(glb), 2e-6 * max(1, np.abs(world).max()))
    near("bodies in .vtp", np.unique(vtk_to_numpy(surfaces.GetCellData().GetArray("body"))), range(len(glb)), 0)
    obj = polydata(f"{name}-{len(frames) // 2 - 1:06d}.obj", vtk.vtkOBJReader)
    near("triangles in .obj", obj.GetNumberOfCells(), surfaces.GetNumberOfCells(), 0)
    near("points in .obj", obj.GetBounds(), surfaces.GetBounds(), 1e-5 * max(1, np.abs(world).max()))
    mine = [row for row in contacts if row["time"] == last]
    near("contact points", vtk_to_numpy(marks.GetPoints().GetData()), [[float(r[c]) for c in "xyz"] for r in mine], 1e-12)
    near("contact forces", vtk_to_numpy(marks.GetPointData().GetArray("force")) * step,
         [[float(r["impulse_" + c]) for c in "xyz"] for r in mine], 1e-12)
    near("parts of forces", vtk_to_numpy(marks.GetPointData().GetArray("force")),
         vtk_to_numpy(marks.GetPointData().GetArray("normal_force")) + vtk_to_numpy(marks.GetPointData().GetArray("friction")), 1e-9)
print("\n".join(faults) or f"{name}: {len(glb)} bodies agree" + ("" if vtk else ", without VTK") +
      ("" if usd else ", without TinyUSDZ"))
sys.exit(1 if faults else 0)
