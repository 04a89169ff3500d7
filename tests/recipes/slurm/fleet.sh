#!/bin/sh
# Measures every node of an allocation at the same time, and names the slow ones:
#   sbatch --nodes=100 --exclusive tests/recipes/slurm/fleet.sh
# One file a node: srun would mix long lines of several.
set -u

srun --ntasks-per-node=1 --exclusive --output=latency-%N.jsonl --error=latency-%N.log \
    latency-bench --format=jsonl --label=env:SLURM_JOB_ID

cat latency-*.jsonl | latency-bench fleet -
