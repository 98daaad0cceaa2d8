#!/usr/bin/env bash
# Deformable bodies as a user meets them: from a mesh to a body file, into scenes and recordings, and into pictures; and
# what is said of meshes and numbers that cannot be used.
# Usage: bash test_reduce.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"

# --- meshes: two stacked cubes of 0.1 m cut into tetrahedra, in every format; a surface; an open one
python3 - <<'END' || exit 1
n = [(x / 10, y / 10, z / 10) for z in range(3) for y in range(2) for x in range(2)]
ways = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)]
tets = []
for k in range(2):
    for w, way in enumerate(ways):
        t = [4 * k]
        for a in way: t.append(t[-1] + (1, 2, 4)[a])
        if w >= 3: t[1], t[2] = t[2], t[1]
        tets.append(t)
def rows(items, first, f): return "".join("%d %s\n" % (first + i, f(x)) for i, x in enumerate(items))
point = lambda p: "%g %g %g" % p
def tet(first): return lambda t: " ".join(str(first + i) for i in t)
def msh(tets):
    return ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n%s$EndNodes\n$Elements\n%d\n%s$EndElements\n" %
            (len(n), rows(n, 1, point), len(tets), rows(tets, 1, lambda t: "4 2 1 1 " + tet(1)(t))))
open("beam.msh", "w").write(msh(tets))
bad = [list(t) for t in tets]
bad[5][0], bad[5][1] = bad[5][1], bad[5][0]
open("inverted.msh", "w").write(msh(bad))
open("beam.vtk", "w").write("# vtk DataFile Version 3.0\nbeam\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n%s"
    "CELLS %d %d\n%sCELL_TYPES %d\n%s" % (len(n), "".join(point(p) + "\n" for p in n), len(tets), 5 * len(tets),
    "".join("4 " + tet(0)(t) + "\n" for t in tets), len(tets), "10\n" * len(tets)))
open("beam.veg", "w").write("*VERTICES\n%d 3 0 0\n%s*ELEMENTS\nTETS\n%d 4 0\n%s" %
    (len(n), rows(n, 1, point), len(tets), rows(tets, 1, tet(1))))
open("beam.node", "w").write("%d 3 0 0\n%s" % (len(n), rows(n, 1, point)))
open("beam.ele", "w").write("%d 4 0\n%s" % (len(tets), rows(tets, 1, tet(1))))
faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"]
corners = "".join("v %d %d %d\n" % (i % 2, i // 2 % 2, i // 4 * 2) for i in range(8))
open("block.obj", "w").write(corners + "".join("f %s\n" % f for f in faces))
open("open.obj", "w").write(corners + "".join("f %s\n" % f for f in faces[1:]))
enu = "*MATERIAL steel\nENU, 7800, 2e11, 0.29\n*REGION\nallElements, steel\n"
other = "*MATERIAL lead\nENU, 11340, 1.6e10, 0.44\n"
text = open("beam.veg").read()
open("steel.veg", "w").write(enu + text)
open("two.veg", "w").write(other + enu + "some, lead\n" + text)
open("rubber.veg", "w").write("*MATERIAL rubber\nMOONEYRIVLIN, 1000, 1, 2, 3\n" + text)
open("one.veg", "w").write("*VERTICES\n4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4\n1 1 2 3 4\n")
open("rod.json", "w").write('{"kind": "cylinder", "radius": 0.05, "length": 0.3}')
END

expect 0 "drystone reduce MESH" help reduce

# --- good input
few="--tets 300 --modes 4 -j 1"
expect 0 "tetrahedra   12 of 12 nodes" reduce beam.msh --modes 4 -o msh.h5
expect 0 "next         drystone run msh.h5" reduce beam.msh --modes 4 -o msh.h5
for ending in vtk veg node ele; do expect 0 "12 of 12 nodes" reduce beam.$ending --modes 4 --name beam -o $ending.h5; done
expect 0 "12 of 12 nodes" reduce beam.msh --modes 4 --name beam -o msh.h5
for ending in vtk veg node ele; do check "$ending gives the body of msh" cmp msh.h5 $ending.h5; done
expect 0 "E 2e+11 Pa, nu 0.29, 7800 kg/m" reduce steel.veg --modes 4 -o steel.h5
expect 0 "the file's own E, nu, density" reduce steel.veg --modes 4 -o steel.h5
expect 0 "E 1e+11 Pa, nu 0.29, 7800 kg/m" reduce steel.veg --young 1e11 --modes 4 -o steel.h5
expect 0 "the file's own nu, density" reduce steel.veg --young 1e11 --modes 4 -o steel.h5
expect 2 "several materials; give --young, --poisson and --density" reduce two.veg --modes 4 -o two.h5
expect 2 "of unknown kind; give --young" reduce rubber.veg --modes 4 -o two.h5
expect 0 "E 1e+09 Pa, nu 0.3, 500 kg/m" reduce two.veg --young 1e9 --poisson 0.3 --density 500 --modes 4 -o two.h5
expect 0 "mass of the surface kept, at 1000 kg/m" reduce block.obj --scale 0.1 $few -o block.h5
expect 0 "mass         3.5 kg" reduce block.obj --scale 0.1 $few --mass 3.5 -o block.h5
expect 0 "mass         7 kg" reduce steel.veg --mass 7 --modes 4 -o steel.h5
expect 2 "--mass and --density exclude each other" reduce block.obj --mass 3 --density 5 -o block.h5
expect 2 "--mass must be above 0" reduce block.obj --mass 0 -o block.h5
soft='{"drystone": 1, "time": 0.01, "bodies": [{"name": "a", "deformable": {"shape": {"file": "FILE.veg"}, "modes": 4}}]}'
sed s/FILE/steel/ <<<"$soft" >steel.json
sed s/FILE/two/ <<<"$soft" >two.json
expect 0 "15.6" info steel.json
expect 2 "several materials; give young, poisson and density" check two.json
expect 0 "filled       a surface of 12 triangles" reduce block.obj --scale 0.1 $few -o block.h5
expect 0 "angles " reduce rod.json $few -o rod.h5
expect 0 "body         rod" info rod.h5
expect 0 "from figure:bone" reduce figure:bone --tets 500 --modes 3 -o bone.h5
expect 0 "body         bone, from bone" reduce bone --tets 500 --modes 3 -o bone.h5
expect 0 "StVK" reduce block.obj --scale 0.1 --tets 300 --modes 9 --stvk --young 1e5 --poisson 0.4 --density 1200 \
  --damping-mass 0.1 --damping-stiffness 0.002 --name soft -o soft.h5
expect 0 "E 100000 Pa, nu 0.4, " info soft.h5
expect 0 "kg/m³; damping 0.1 1/s of mass, 0.002 s of stiffness" info soft.h5
expect 0 "mass         2.4 kg" info soft.h5 # 1200 kg/m³ of the surface's 2 litres, whatever was cut off
expect 0 "9 coordinates" info soft.h5
output=$("$program" reduce beam.msh --modes 4 -q -o quiet.h5 2>&1)
check "reduce -q says nothing" test -z "$output"
check "no part of a file is left" test -z "$(ls | grep '\.part')"

# the same body is the same file, whatever the threads, and from the cache
tets=$(quick && echo 500 || echo 2000)
"$program" reduce block.obj --tets "$tets" --modes 8 --stvk --no-cache -j 1 -q -o one.h5
"$program" reduce block.obj --tets "$tets" --modes 8 --stvk --no-cache -j 3 -q -o three.h5
check "threads do not matter" cmp one.h5 three.h5
expect 0 "reduction" reduce block.obj --tets 1000 --modes 5 -o cached.h5
cp cached.h5 first.h5
expect 0 "from the cache" reduce block.obj --tets 1000 --modes 5 -o cached.h5
check "the cache does not matter" cmp cached.h5 first.h5

# the report as JSON
"$program" reduce block.obj --scale 0.1 --tets 800 --modes 6 --json -o json.h5 >json.txt
check "--json is JSON with what the text says" python3 - <<'END'
import json, os
j = json.load(open("json.txt"))
assert j["modes"] == 6 and len(j["frequencies"]) == 6 and j["frequencies"] == sorted(j["frequencies"])
assert j["bytes"] == os.path.getsize("json.h5") and j["tets"] > 100 and sum(j["angles"]) == 6 * j["tets"]
assert 0.1 < j["least_angle"] < j["greatest_angle"] < 3 and abs(j["volume"] - 2e-3) < 1e-4
assert abs(j["volume_error"] - (j["volume"] / 2e-3 - 1)) < 1e-9 and abs(j["mass"] - 1000 * 2e-3) < 1e-9
assert abs(j["density"] * j["volume"] - j["mass"]) < 1e-9 and abs(j["surface_density"] - 1000) < 1e-6
assert j["mass_error"] < 1e-9 and j["orthogonality"] < 1e-9 and j["file"] == "json.h5" and not j["stvk"]
END

# --- pictures of modes
"$program" reduce beam.msh --modes 2 --pictures mode -q -o pictured.h5
check "a picture a mode" test -s mode-01.png -a -s mode-02.png -a ! -e mode-03.png
check "modes differ" test "$(cmp -s mode-01.png mode-02.png; echo $?)" -eq 1
expect 2 "no/such" reduce beam.msh --modes 1 --pictures no/such/mode -o pictured.h5

# --- bad input: status 2 and what to do
refuse() {
  local text=$1
  shift
  rm -f out.h5
  expect 2 "$text" reduce "$@" -o out.h5
  check "nothing is written: $*" test -z "$(ls | grep '^out\.h5')"
}
refuse "give a mesh, a recipe or a figure"
refuse "one mesh, recipe or figure only" block.obj beam.msh
refuse "open.obj: the surface cannot be filled: open, 4 times" open.obj
refuse "'drystone check open.obj' lists all faults" open.obj
refuse "inverted.msh" inverted.msh
refuse "tetrahedron 6 of the file is inverted" inverted.msh
refuse "--density must be above 0" block.obj --density 0
refuse "--density must be above 0" block.obj --density -5
refuse "--young must be above 0" block.obj --young 0
refuse "--poisson must be above -1 and below 0.5" block.obj --poisson 0.5
refuse "--poisson must be above -1 and below 0.5" block.obj --poisson -1
refuse "6" one.veg --modes 7
refuse "give 1 to 128" block.obj --modes 129
refuse "give 1 to 128" block.obj --modes 0
refuse "unknown file type; give .obj" block.xyz
refuse "unknown file type" json.txt
refuse "No such file" none.obj
refuse "No such file" none.vtk
refuse "did you mean bunny?" buny
refuse "exclude each other" block.obj --cell 0.1 --tets 100
refuse "has tetrahedra already" beam.msh --tets 100
refuse "too fine" block.obj --cell 1e-9
refuse "did you mean --young?" block.obj --yuong 3
refuse "out of range" block.obj --damping-mass -1
expect 2 "-o body.h5" reduce block.obj
expect 2 "No such file or directory" reduce block.obj -o no/such/x.h5
expect 2 "it is a directory" reduce block.obj -o "$folder"
expect 2 "overwritten" reduce block.obj -o block.obj
cp msh.h5 kept.h5
expect 2 "open" reduce open.obj -o kept.h5
check "an older file stays" cmp kept.h5 msh.h5

# --- check, info, draw
expect 0 "msh.h5: ok: deformable body beam, 4 linear modes" check msh.h5
expect 0 "beam.msh: ok: 12 tetrahedra, 12 nodes" check beam.msh
expect 0 "beam.vtk: ok: 12 tetrahedra" check beam.vtk
expect 2 "inverted" check inverted.msh
expect 0 "ok: 12 triangles" check block.obj
expect 0 "12 of 12 nodes; surface 20 triangles" info beam.veg
expect 0 "volume       0.002 m³" info beam.ele
expect 0 "frequencies" info msh.h5
expect 2 "--set changes scenes" info msh.h5 --set time=3
head -c 3000 msh.h5 >cut.h5
expect 2 "cut.h5" check cut.h5
expect 2 "cut.h5" info cut.h5
"$program" draw msh.h5 --size 160x90 -o body.png
check "a body file is drawn" test -s body.png
"$program" draw beam.vtk --size 160x90 -o tets.png
check "tetrahedra are drawn" test -s tets.png
expect 2 "a body file has no contacts" draw msh.h5 --contacts -o x.png

# --- in scenes: by file, by definition; what is wrong is said with its line
expect 0 '"deformable": {"file": "soft.h5"}' scene soft.h5
cat >scene.json <<'END'
{"drystone": 1, "name": "soft", "time": 0.3,
 "deformables": {"rubber": {"shape": {"file": "block.obj", "scale": 0.1}, "young": 1e5, "modes": 4, "tets": 300}},
 "bodies": [
  {"name": "floor", "kind": "static", "shapes": [{"kind": "half-space"}]},
  {"name": "a", "position": [0, 0, 0.01], "deformable": "rubber", "reduced": [1e-3, 0, 0, 0]},
  {"name": "b", "position": [0.2, 0, 0.01], "deformable": {"file": "soft.h5"}},
  {"name": "c", "position": [0.4, 0, 0.01], "deformable": "rubber"}]}
END
expect 0 "scene.json: ok: soft, 4 bodies (3 dynamic" check scene.json
expect 0 "35 degrees of freedom" info scene.json
expect 0 "deformable   rubber, of 2 bodies: 4 linear modes" info scene.json
expect 0 "deformable   soft, of 1 body: 9 StVK coordinates" info scene.json
expect 2 'body "a": "reduced" has 4 numbers; expected 5' check scene.json --set deformables.rubber.modes=5
expect 2 "none.h5: cannot be opened" check scene.json --set 'bodies.b.deformable.file=none.h5'
expect 2 "it is not an HDF5 file" check scene.json --set 'bodies.b.deformable.file=block.obj'
"$program" draw scene.json --size 160x90 -o scene.png
check "a scene with deformables is drawn" test -s scene.png

# --- a run, its recording and report; nothing depends on threads or on the files the scene was made of
expect 0 "deformable    3 bodies, 17 coordinates" run scene.json -j 1 -o run.h5 --report run.json
check "the report counts them" grep -q '"dof": 35' run.json
"$program" run scene.json -j 3 -q --report run3.json
check "the same state with other threads" test "$(grep state_hash run.json)" = "$(grep state_hash run3.json)"
"$program" run scene.json --metric mass -q --report mass.json
check "the metric matters" test "$(grep state_hash run.json)" != "$(grep state_hash mass.json)"
check "the report names it" grep -q '"metric": "mass"' mass.json
expect 2 "effective|mass" run scene.json --metric heavy
mkdir away && mv soft.h5 block.obj away
expect 0 "elastic      energy" info run.h5
expect 0 "deformable   soft, of 1 body" info run.h5
"$program" draw run.h5 --size 160x90 -t 0 -o start.png
"$program" draw run.h5 --size 160x90 --contacts -o end.png
check "a recording with deformables is drawn" test -s start.png -a -s end.png
expect 0 "" plot run.h5 --what energy -o plot.png
expect 2 "" run scene.json
mv away/* .
expect 0 "deformable    1 body, 9 coordinates" run soft.h5 --time 0.05

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
