#!/usr/bin/env bash
# drystone sweep as an array of Slurm and under Open MPI, each on this machine: the same file, the same table as with a
# local pool, and no run done twice. Skipped where neither is installed (scripts/install-deps.sh cluster).
. "$(dirname "$0")/shell.sh"

cat >map.json <<'END'
{"drystone_sweep": 1, "scene": "incline", "arguments": ["--time", "0.05"],
 "parameters": [{"generator": "mu", "from": 0.1, "to": 1, "count": 5},
                {"generator": "slope", "from": 0.1, "to": 1, "count": 4}],
 "metrics": ["displacement_max", "state_hash"]}
END
"$program" sweep map.json -o local -q && ok || fail "the local sweep"

same() { # NAME FOLDER: as the local one, each run once
  cmp -s local/results.csv "$2/results.csv" && ok || fail "$1: another table: $(ls "$2"; head -2 "$2/results.csv")"
  [ "$(cat "$2"/runs-*.jsonl | sort -u | wc -l)" = 20 ] && [ "$(cat "$2"/runs-*.jsonl | wc -l)" = 20 ] && ok ||
    fail "$1: not 20 lines: $(wc -l "$2"/runs-*.jsonl)"
}

tried=0
if command -v mpirun >/dev/null; then
  tried=1
  timeout 120 mpirun --allow-run-as-root --oversubscribe -n 3 "$program" sweep map.json -o mpi >mpi.log 2>&1 && ok ||
    fail "mpirun: $(tail -3 mpi.log)"
  same "Open MPI" mpi
fi

# Slurm without its services: a controller and one node, both as this user, on ports of their own.
start_slurm() {
  local port=$((20000 + RANDOM % 20000))
  mkdir -p slurm/state slurm/spool
  cat >slurm/slurm.conf <<END
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
StateSaveLocation=$folder/slurm/state
SlurmdSpoolDir=$folder/slurm/spool
SlurmctldPidFile=$folder/slurm/slurmctld.pid
SlurmdPidFile=$folder/slurm/slurmd.pid
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
END
  export SLURM_CONF=$folder/slurm/slurm.conf
  slurmctld -D >slurm/slurmctld.log 2>&1 &
  controller=$!
  slurmd -D >slurm/slurmd.log 2>&1 &
  node=$!
  trap 'kill $controller $node 2>/dev/null; wait; rm -rf "$folder"' EXIT
  for _ in $(seq 200); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && return 0
    sleep 0.1
  done
  return 1
}

if command -v slurmctld >/dev/null && command -v slurmd >/dev/null && [ "$(id -u)" = 0 ]; then
  if start_slurm; then
    tried=1
    timeout 120 sbatch --wait --array=0-2 --output="$folder/array-%a.log" --wrap \
      "$program sweep $folder/map.json -o $folder/array" >sbatch.log 2>&1 && ok ||
      fail "sbatch: $(tail -3 sbatch.log array-*.log slurm/*.log)"
    same "Slurm" array
  else
    echo "Slurm is installed but does not start here: $(tail -2 slurm/slurmctld.log slurm/slurmd.log)"
  fi
fi
[ $tried = 1 ] || { echo "skipped: neither Slurm nor Open MPI"; exit 77; }

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
