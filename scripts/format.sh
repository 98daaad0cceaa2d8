#!/bin/bash
# Formats all C sources in place, or with --check says which differ and exits 1. Style: .clang-format.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tracked and new files; without git, all files outside build folders.
sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' | while IFS= read -r -d '' file; do
      [ ! -f "$file" ] || printf '%s\0' "$file"
    done
  else
    find . -name .git -prune -o -name 'build*' -prune -o -name node_modules -prune -o -name '*.[ch]' -print0
  fi
}

if [ "${1:-}" = --check ]; then
  sources | xargs -0 -r clang-format --dry-run -Werror
else
  sources | xargs -0 -r clang-format -i
fi
