#!/bin/sh
# Gives hwloc what latency-bench measured: sh THIS OUTPUT.xml [INPUT.xml]
# Without INPUT.xml the topology is that of this machine. Latencies in ns, bandwidths in MiB/s.
set -eu
output=$1
if [ $# -gt 1 ]; then cp "$2" "$output"; else lstopo --of xml -f "$output"; fi
attribute() { # NAME TARGET INITIATOR VALUE: nodes as the kernel numbers them
    target=$(hwloc-calc -i "$output" --pi --lo -I numanode "numanode:$2")
    initiator=$(hwloc-calc -i "$output" --pi "numanode:$3")
    hwloc-annotate "$output" "$output" -- "numanode:$target" -- memattr "$1" "$initiator" "$4"
}
echo 'this result has no memory attributes' >&2
exit 1
