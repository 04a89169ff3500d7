#!/bin/sh
# Measures every node of an allocation at the same time, and names the slow ones:
#   sbatch --nodes=100 --exclusive tests/recipes/slurm/fleet.sh
# One file a node: srun would mix long lines of several. One directory a job, and a start of it: results of older ones
# would hide a node that has become slow.
set -u
results=latency-${SLURM_JOB_ID:?submit this with sbatch}-${SLURM_RESTART_COUNT:-0}
mkdir "$results" || exit 1

srun --ntasks-per-node=1 --exclusive --output="$results/%N.jsonl" --error="$results/%N.log" \
    latency-bench --format=jsonl --label=env:SLURM_JOB_ID

# A node without a result is named by its absence: the exit status is 6.
latency-bench fleet --expect="${SLURM_JOB_NUM_NODES:-0}" "$results"/*.jsonl
