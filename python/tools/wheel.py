#!/usr/bin/env python3
"""Makes a wheel of the built package and the program: wheel.py BUILD_DIR OUTPUT_DIR. Needs nothing but Python.

The program goes to the scripts of the wheel, so that `pip install` puts `drystone` into PATH. Both need the HDF5, libpng
and libwebsockets of the system that built them.
"""
import base64
import hashlib
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

METADATA = """Metadata-Version: 2.1
Name: drystone
Version: {version}
Summary: Rigid and deformable bodies with exact Coulomb friction, certified in every step
License: Apache-2.0
Requires-Python: >=3.8
Requires-Dist: numpy>=1.20
"""


def main():
    build, output = map(pathlib.Path, sys.argv[1:])
    version = subprocess.run([build / "drystone", "version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    info = f"drystone-{version}.dist-info"
    files = {f"drystone/{p.name}": p.read_bytes() for p in sorted((build / "python/drystone").iterdir()) if p.is_file()}
    files[f"drystone-{version}.data/scripts/drystone"] = (build / "drystone").read_bytes()
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: drystone\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"drystone-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes whenever it is made
            entry.external_attr = (0o755 if "/scripts/" in name or name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


main()
