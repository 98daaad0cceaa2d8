#!/usr/bin/env bash
# Block assemblies of compas_cra (MIT) as solids, concave blocks among them: they stand. Runs where DRYSTONE_CASES names
# the folder that holds them.
# Usage: bash test_solid_cases.sh PROGRAM SOURCE_DIR
[ -n "${DRYSTONE_CASES:-}" ] && [ -d "$DRYSTONE_CASES" ] || exit 77
command -v python3 >/dev/null || exit 77
. "$(dirname "$0")/shell.sh"

cat >convert.py <<'PYTHON'
import json, os, sys
source, mu, supports = sys.argv[1], float(sys.argv[2]), {int(s) for s in sys.argv[3].split(",")}
nodes = json.load(open(source))["data"]["graph"]["data"]["node"]
bodies, solids = [], {}
for key in sorted(nodes, key=int):
    block = nodes[key]["block"]["data"]
    order = sorted(block["vertex"], key=int)
    number = {int(v): i + 1 for i, v in enumerate(order)}
    with open(f"b{key}.obj", "w") as f:
        for v in order:
            f.write("v %.17g %.17g %.17g\n" % tuple(block["vertex"][v][k] for k in "xyz"))
        for face in sorted(block["face"], key=int):
            f.write("f " + " ".join(str(number[int(v)]) for v in block["face"][face]) + "\n")
    solids[f"b{key}"] = {"file": f"b{key}.obj"}
    kind = "static" if int(key) in supports else "dynamic"
    bodies.append({"name": f"b{key}", "kind": kind, "mu": mu, "density": 2400,
                   "shapes": [{"kind": "solid", "solid": f"b{key}"}]})
json.dump({"drystone": 1, "name": "assembly", "allow_overlap": True, "solids": solids, "bodies": bodies},
          open("scene.json", "w"))
PYTHON

cat >check.py <<'PYTHON'
import json, sys
name, r, first = sys.argv[1], json.load(open("all.json")), json.load(open("first.json"))
later = (r["factorizations"] - first["factorizations"]) / (r["steps"] - first["steps"])
print(f"{name}: {r['contacts_max']} contacts, settled {r['displacement_max']:.2g} m, {later:.2g} factorizations per step "
      f"after the first second, gain {r['energy_gain_max']:.2g} J")
sys.exit(not (r["converged_share"] == 1 and r["displacement_max"] < 1e-4 and later <= 2 and
              r["displacement_settled_max"] < 1e-9))
PYTHON

seconds=60
[ "${DRYSTONE_TEST_QUICK:-0}" != 0 ] && seconds=5
stands() {
  [ -f "$DRYSTONE_CASES/$1.json" ] || return
  python3 convert.py "$DRYSTONE_CASES/$1.json" "$2" "$3" || fail "$1: not converted"
  timeout 300 "$program" run scene.json -t 1 --quiet --strict --report first.json || fail "$1: first second"
  timeout 300 "$program" run scene.json -t $seconds --quiet --strict --report all.json || fail "$1: $seconds s"
  if python3 check.py "$1"; then ok; else fail "$1"; fi
}
stands concave-long 0.84 0
stands cubes 0.84 0
stands type-a 0.84 0,1
stands type-b 0.84 0,1
stands bridge 0.9 0,1
stands shelf-stable 0.9 0

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
