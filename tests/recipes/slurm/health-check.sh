#!/bin/sh
# A health check for idle nodes, which looks twice before it drains one. In slurm.conf:
#   HealthCheckProgram=/usr/local/sbin/latency-health-check
#   HealthCheckInterval=86400
#   HealthCheckNodeState=IDLE
# Slurm ends it after 60 s: two looks of 20 s and a pause. latency-check (../check) goes to /usr/local/bin; it says where the baseline is:
#   cat latency-*.jsonl > /etc/latency-bench/baseline.jsonl
set -u
export BUDGET="${BUDGET:-20}"
PATH=$PATH:/usr/local/bin
trap 'exit 1' HUP INT TERM

line=$(latency-check "$@")
status=$?
if [ $status -eq 5 ]; then
    scontrol update NodeName="$(hostname -s)" State=DRAIN Reason="latency-bench: $line"
    exit 0
fi
# Slurm logs a check that fails: 6 is no verdict, such as an unreliable result of a busy node.
echo "$line"
exit $status
