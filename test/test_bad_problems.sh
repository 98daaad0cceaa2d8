#!/usr/bin/env bash
# Every problem in test/bad_problems is refused by `PROGRAM solve FILE`: exit code 2, and a message that names file and
# line and says what was expected. expect.txt has a line for each: NAME.dat:LINE: a part of the message
# Usage: bash test_bad_problems.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"

listed=0
while IFS= read -r line; do
  [[ $line =~ ^([a-zA-Z0-9_]+\.dat):([0-9]+):\ (.*)$ ]] || { fail "expect.txt: $line"; continue; }
  refused solve "$source/test/bad_problems/${BASH_REMATCH[1]}" "${BASH_REMATCH[1]}:${BASH_REMATCH[2]}:" "${BASH_REMATCH[3]}"
  listed=$((listed + 1))
done <"$source/test/bad_problems/expect.txt"
files=$(find "$source/test/bad_problems" -name '*.dat' | wc -l)
if [ "$files" -ne "$listed" ]; then
  fail "$files files, and $listed in expect.txt"
fi

# Files that cannot be kept, or are not text.
refused solve "$folder/none.dat" "none.dat" "No such file"
refused solve "$folder" "is a directory"
printf '\x89HDF\r\n\x1a\n' >"$folder/signature.hdf5"
refused solve "$folder/signature.hdf5" "signature.hdf5: HDF5 cannot open it"
if truncate -s 3G "$folder/large.dat" 2>/dev/null; then
  refused solve "$folder/large.dat" "large.dat" "larger than 1024 MiB"
fi
if [ "$(id -u)" -ne 0 ]; then
  echo 3 >"$folder/secret.dat"
  chmod 000 "$folder/secret.dat"
  refused solve "$folder/secret.dat" "secret.dat" "Permission denied"
fi
# a recording is HDF5 too, and no problem
"$program" run incline --time 0.02 --record "$folder/run.h5" -q || echo "FAIL no recording"
refused solve "$folder/run.h5" "run.h5: an HDF5 file without fclib_local or fclib_global"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
