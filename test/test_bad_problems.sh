#!/usr/bin/env bash
# Every problem in test/bad_problems is refused by `PROGRAM solve FILE`: exit code 2, and a message that names file and
# line and says what was expected. expect.txt has a line for each: NAME.dat:LINE: a part of the message
# Usage: bash test_bad_problems.sh PROGRAM SOURCE_DIR
set -u
program=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# expect FILE TEXT...: the file is refused, and every TEXT stands in what the program says.
expect() {
  local file=$1 output code text
  shift
  output=$(timeout 60 "$program" solve "$file" 2>&1 </dev/null)
  code=$?
  if [ "$code" -ne 2 ]; then
    echo "FAIL $file: exit code $code, wanted 2: $output"
    failed=$((failed + 1))
    return
  fi
  for text in "$@"; do
    if [[ $output != *"$text"* ]]; then
      echo "FAIL $file: wanted '$text' in: $output"
      failed=$((failed + 1))
      return
    fi
  done
  passed=$((passed + 1))
}

listed=0
while IFS= read -r line; do
  [[ $line =~ ^([a-zA-Z0-9_]+\.dat):([0-9]+):\ (.*)$ ]] || { echo "FAIL expect.txt: $line"; failed=$((failed + 1)); continue; }
  expect "$source/test/bad_problems/${BASH_REMATCH[1]}" "${BASH_REMATCH[1]}:${BASH_REMATCH[2]}:" "${BASH_REMATCH[3]}"
  listed=$((listed + 1))
done <"$source/test/bad_problems/expect.txt"
files=$(find "$source/test/bad_problems" -name '*.dat' | wc -l)
if [ "$files" -ne "$listed" ]; then
  echo "FAIL $files files, and $listed in expect.txt"
  failed=$((failed + 1))
fi

# Files that cannot be kept, or are not text.
expect "$folder/none.dat" "none.dat" "No such file"
expect "$folder" "is a directory"
printf '\x89HDF\r\n\x1a\n' >"$folder/signature.hdf5"
expect "$folder/signature.hdf5" "signature.hdf5: HDF5 cannot open it"
if truncate -s 3G "$folder/large.dat" 2>/dev/null; then
  expect "$folder/large.dat" "large.dat" "larger than 1024 MiB"
fi
if [ "$(id -u)" -ne 0 ]; then
  echo 3 >"$folder/secret.dat"
  chmod 000 "$folder/secret.dat"
  expect "$folder/secret.dat" "secret.dat" "Permission denied"
fi
# a recording is HDF5 too, and no problem
"$program" run incline --time 0.02 --record "$folder/run.h5" -q || echo "FAIL no recording"
expect "$folder/run.h5" "run.h5: an HDF5 file without fclib_local or fclib_global"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
