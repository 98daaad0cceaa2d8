#!/usr/bin/env bash
# Every scene in test/bad is refused by `PROGRAM check FILE`: exit code 2, and a message that names file and line and
# says what was expected. The first line of each file tells: // expect line N: a part of the message
# Usage: bash test_bad_scenes.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"

for file in "$source"/test/bad/*.json; do
  IFS= read -r first <"$file"
  if [[ $first =~ ^//\ expect\ line\ ([0-9]+):\ (.*)$ ]]; then
    refused check "$file" "$(basename "$file"):${BASH_REMATCH[1]}:" "${BASH_REMATCH[2]}"
  else
    fail "$file: its first line does not say what to expect"
  fi
done

# Files that cannot say it themselves.
: >"$folder/empty.json"
refused check "$folder/empty.json" "empty.json:1:1:" "the text is empty"
head -c 4096 /dev/zero >"$folder/zeros.json"
refused check "$folder/zeros.json" "zeros.json:1:1:" "control character 0x00"
printf '\x89PNG\r\n\x1a\n\x00\x00' >"$folder/picture.json"
refused check "$folder/picture.json" "picture.json:1:1:" "is not UTF-8 text"
printf '\xff\xfe{\x00}\x00' >"$folder/utf16.json"
refused check "$folder/utf16.json" "utf16.json:1:1:" "save it as UTF-8"

# Files of other kinds, by ending and by content.
printf 'OFF\n4 4 6\n0 0 0\n' >"$folder/part.off"
printf 'MeshVersionFormatted 1\nDimension 3\n' >"$folder/part.mesh"
printf 'glTF\x02\x00\x00\x00' >"$folder/part.glb"
printf '{"asset": {"version": "2.0"}}' >"$folder/part.gltf"
printf 'ISO-10303-21;\n' >"$folder/part.txt"
printf 'v 0 0 0\n' >"$folder/part.obj"
"$program" run stack:count=1 --time 0.01 --record "$folder/part.h5" -q
for pair in "off:OFF format" "mesh:Medit format" "glb:glTF format" "gltf:glTF format" "txt:STEP format"; do
  for command in check run info; do
    refused $command "$folder/part.${pair%%:*}" "part.${pair%%:*}: is a m" "${pair#*:}" ".obj, .stl, .ply and .msh"
  done
done
refused run "$folder/part.obj" "is a mesh, not a scene" "reduce"
refused run "$folder/part.h5" "is a recording" "--from"
refused check "$folder/part.h5" "is a recording"

head -c 100000 /dev/zero | tr '\0' '[' >"$folder/deep.json"
refused check "$folder/deep.json" "deep.json:1:65:" "brackets within each other"
refused check "$folder/none.json" "none.json" "No such file"
refused check "$folder" "is a directory"
if truncate -s 300M "$folder/large.json" 2>/dev/null; then
  refused check "$folder/large.json" "large.json" "at most 256 MiB"
fi
if [ "$(id -u)" -ne 0 ]; then
  echo '{}' >"$folder/secret.json"
  chmod 000 "$folder/secret.json"
  refused check "$folder/secret.json" "secret.json" "Permission denied"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
