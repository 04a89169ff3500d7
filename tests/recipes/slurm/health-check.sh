#!/bin/sh
# A health check for idle nodes. In slurm.conf:
#   HealthCheckProgram=/usr/local/sbin/latency-health-check
#   HealthCheckInterval=86400
#   HealthCheckNodeState=IDLE
# Slurm ends it after 60 s, hence the budget. The baseline is the result of nodes that are as they should be:
#   cat latency-*.jsonl > /etc/latency-bench/baseline.jsonl
# Nothing is kept in a file, so that nothing is left when it is ended early.
set -u
baseline=${BASELINE:-/etc/latency-bench/baseline.jsonl}
trap 'exit 1' HUP INT TERM

latency-bench bandwidth --budget="${BUDGET:-40}" --quiet --format=jsonl |
    latency-bench fleet --quiet --baseline="$baseline" -
status=$?
if [ $status -eq 5 ]; then
    scontrol update NodeName="$(hostname -s)" State=DRAIN Reason="latency-bench: slow memory"
    exit 0
fi
# Slurm logs a check that fails: 6 is no verdict, such as an unreliable result of a busy node.
exit $status
