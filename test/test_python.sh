#!/bin/bash
# The Python package: its tests, the notebooks, the code of docs/python.md, and the wheel.
# Usage: test_python.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
package=$(dirname "$program")/python
# Debian's python3 first: numpy comes from there
for python in /usr/bin/python3 python3; do
  "$python" -c 'import numpy' 2>/dev/null && break
done
[ -e "$package/drystone/_drystone.so" ] && "$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no package, or no numpy"; exit 77; }
export PYTHONPATH=$package DRYSTONE_PROGRAM=$program PYTHONDONTWRITEBYTECODE=1

check "the tests" "$python" -W error::ResourceWarning "$source/python/test/test_drystone.py" "$program" "$source"
cat check.log
check "the notebooks" "$python" "$source/python/tools/run_notebook.py" "$source"/python/notebooks/*.ipynb
# a cell that fails is noticed
sed 's/assert abs(x - 0.4077) < 0.003/assert abs(x - 0.4077) < 0/' "$source/python/notebooks/first-steps.ipynb" >wrong.ipynb
if "$python" "$source/python/tools/run_notebook.py" wrong.ipynb >/dev/null 2>&1; then fail "a wrong notebook passes"; else ok; fi
# the blocks of the page are one program
sed -n '/^```python$/,/^```$/{/^```/!p}' "$source/docs/python.md" >page.py
check "docs/python.md" "$python" page.py

check "the wheel" "$python" "$source/python/tools/wheel.py" "$(dirname "$program")" wheels
mkdir site
check "unpacking it" "$python" -m zipfile -e wheels/*.whl site
check "importing it" env PYTHONPATH="$folder/site" "$python" -c \
  'import drystone, os; assert drystone.__file__.startswith(os.getcwd()); drystone.Simulation("stack:count=2").step(3)'
check "the record of the wheel" "$python" - <<'END'
import base64, csv, glob, hashlib
rows = list(csv.reader(open(glob.glob("site/*.dist-info/RECORD")[0])))
assert len(rows) > 10
for name, digest, size in rows[:-1]:
    data = open("site/" + name, "rb").read()
    assert len(data) == int(size), name
    assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), name
END

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
