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
attribute ReadBandwidth 0 0 108447
attribute ReadBandwidth 1 0 48929
attribute ReadBandwidth 0 1 48940
attribute ReadBandwidth 1 1 108630
attribute WriteBandwidth 0 0 68442
attribute WriteBandwidth 1 0 30814
attribute WriteBandwidth 0 1 30809
attribute WriteBandwidth 1 1 68664
# suggested weight for interleaving: node 0: 1
# suggested weight for interleaving: node 1: 1
lstopo -i "$output" --memattrs
