#!/usr/bin/env bash
# Pages of the manual: length of README.md, links, line lengths. Usage: bash test_docs.sh PROGRAM SOURCE_DIR
exec python3 "$2/scripts/check-docs.py"
