#!/bin/sh
tar -xzf "latency-bench-@VERSION@-$(uname -m)-linux.tar.gz" --strip-components=1
echo $? >~/install-exit-status

# A result whose trust is poor is not a result: --strict makes it exit status 3. One that is not there prints no line.
cat >latency-bench <<'RUN'
#!/bin/sh
./bin/latency-bench "$@" --quiet --strict --format=json >result.json 2>"$LOG_FILE"
echo $? >~/test-exit-status
value() { sed -n "s/^\"summary\":.*\"$1\":\([0-9.]*\),.*/\1/p" result.json; }
{
    value memory_ns | sed 's/.*/Memory latency: & ns/'
    value local_ns | sed 's/.*/Random load: & ns/'
    value read_bytes_per_second | awk '{ printf "Read bandwidth: %.3f GB/s\n", $1 / 1e9 }'
} >>"$LOG_FILE"
RUN
chmod +x latency-bench
