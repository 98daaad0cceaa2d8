#!/bin/bash
# `make demo`: builds a card house, lets it stand, and leaves a report, a recording, a picture and a plot in demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

scene=${DEMO_SCENE:-card-house:levels=5}
seconds=${DEMO_TIME:-10}
mkdir -p demo
echo "drystone run $scene"
build/drystone run "$scene" --time "$seconds" --record demo/card-house.h5 --report demo/report.json
build/drystone draw demo/card-house.h5 --time "$seconds" -o demo/card-house.png
build/drystone plot demo/card-house.h5 -o demo/plot.png
cat <<END

  demo/card-house.png   the house after $seconds s
  demo/plot.png         the run over time
  demo/card-house.h5    the recording: every pose, contact and certificate (docs/recording.md)
  demo/report.json      the figures above and more (docs/report.md)
END
