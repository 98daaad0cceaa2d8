#!/usr/bin/env bash
# Pages of the manual: length of README.md, links, line lengths, and the code that no other test runs. Usage: bash test_docs.sh PROGRAM SOURCE_DIR
python3 "$2/scripts/check-docs.py" && python3 "$2/scripts/check-code.py" "$1" "$2"
