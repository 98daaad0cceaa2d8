#!/bin/bash
# All C sources are formatted as .clang-format says. Usage: test_format.sh PROGRAM SOURCE_DIR
set -euo pipefail
command -v clang-format >/dev/null || { echo "skipped: no clang-format"; exit 77; }
if "$2/scripts/format.sh" --check; then
  echo "1 passed, 0 failed"
else
  echo "run make format"
  echo "0 passed, 1 failed"
  exit 1
fi
