//! A QEMU TCG plugin that gives an emulated machine known memory latencies, so that a program which measures
//! them can be checked against the truth.
//!
//! The plugin leads the loads of a range of the guest's code (the chase loops) through a model of TLB, caches
//! and NUMA nodes. It then waits on the time-stamp counter of the host, which is also the guest's, until the
//! modelled time has passed. Everything else runs at the speed of the emulator.
//!
//! Guests are of x86-64 or aarch64, hosts of x86-64. The counter of a guest of aarch64 is not the host's: QEMU makes its
//! ticks of 16 ns from the host's clock. All ticks here are the host's.
//!
//! ```text
//! qemu-system-x86_64 … -plugin liblatency_lab_plugin.so,start=0x401000,end=0x402000,\
//!     level=32K:8:3000,level=1M:16:5000:random,backend=0:512M,backend=1:512M,cpu=1:1,\
//!     latency=*:*:20000,latency=0:0:10000,latency=1:1:10000,absorb=1M,overhead=100
//! ```
//!
//! # Arguments
//!
//! Numbers are decimal or `0x…`, with binary K, M and G; all times are ticks of the time-stamp counter. An
//! unusable argument ends QEMU with a message on standard error. Arguments marked `+` may be repeated.
//!
//! | argument | meaning |
//! | --- | --- |
//! | `start=ADDRESS` `end=ADDRESS` | virtual addresses of the code whose loads are modelled, the end excluded; required |
//! | `stamps=START:END` | virtual addresses of code, the end excluded, in which a stamp opens a timed window and another one closes it: `rdtsc` and `rdtscp`; `mrs x9, cntvct_el0` and `mrs x10, cntvct_el0`; without them every call of a loop is a window |
//! | `entry=ADDRESS` | virtual address of the first instruction of the program that times windows: its windows are counted by run; without it, everything is run 0 |
//! | `block=START:END:TICKS` + | virtual addresses of a routine, the end excluded, that does known arithmetic in blocks and counts them by `dec rdi` or `subs x0, x0, #1`; ticks of each block: the guest's core clock. Without it, this is the host's clock |
//! | `level=SIZE:WAYS:TICKS[:lru\|random][:node\|shared]` + | a cache level, the nearest first: lines of 64 bytes, total ticks of a load that hits it; private to each CPU, or one for each `node`, or one `shared` by all; LRU by default |
//! | `other=TICKS` | ticks of a load whose line is only in a level of another node; without it, levels serve only their own node |
//! | `directory-bit=TICKS` | memory keeps a bit for each line that another node than its own read last; the next load by its own node then costs TICKS more, once; cache hits change nothing, and a store past the caches clears the bit; none |
//! | `latency=FROM:TO:TICKS` + | ticks of a load by a CPU of node FROM from memory of node TO, in total; `*` is every node; the more specific one goes first, then the later one; required for every pair unless `probe=on` |
//! | `cpu=FIRST[-LAST]:NODE` + | node of these CPUs; 0 for the others |
//! | `node=NODE:START:SIZE` + | memory of a node, in the addresses that a plugin gets (below) |
//! | `backend=NODE:SIZE` + | alternatively the `memory-backend-…` objects, in the order of the command line and of the nodes. Without either, all memory is node 0 |
//! | `tlb=ENTRIES:TICKS[:WAYSway][:4k\|2m]` + | a TLB level, the nearest first: the ticks are added to a load that misses it; fully associative and for both page sizes by default; LRU |
//! | `page=auto\|4k\|2m` | size of the guest's pages; `auto` takes an access whose virtual and physical addresses agree in 21 bits to be on a 2 MiB page, until a neighbouring access shows that they agree by chance |
//! | `tables=NODE` | the page tables are on NODE: an access that misses all TLB levels that hold its page size also loads the line of the page's entry, which eight pages share, through the caches, for the ticks of a load; not with `server=`. Without it, a miss costs only the ticks of `tlb=` |
//! | `prefetch=LINES` | a prefetcher of each CPU that runs LINES lines ahead of a walk in order, up or down, within each 4 KiB, of chases and generators; 0 |
//! | `adjacent=on\|off` | another prefetcher, which brings the other line of the same 128 bytes with each line that misses the levels of its CPU; off |
//! | `neighbour=LINES` | another program uses LINES lines, each once and in any set, in every 2^20 ticks in each level of a node or of all nodes; 0 |
//! | `tail=EVERY:TICKS` + | every n-th load of a CPU is slower |
//! | `pause=EVERY:TICKS` + | the CPU pauses for TICKS after every n-th load |
//! | `drift=PERCENT:TICKS` | the latency of all loads is multiplied by a factor that follows a sine of time, 1 ± PERCENT, with a period of TICKS; none |
//! | `burst=EVERY:LENGTH:PERCENT` | for LENGTH ticks out of every EVERY, loads are PERCENT slower; none |
//! | `noise=PERCENT:EVERY` | the latency of all loads is multiplied by a factor, uniform in 1 ± PERCENT, with a new draw after EVERY loads of a CPU; none |
//! | `stream=START:END:NAME` + | virtual addresses of a kernel of load generators, the end excluded, and its name in the report |
//! | `server=NODE\|link:TICKS[:LINES:PERCENT]` + | the memory of NODE serves one line at a time and needs TICKS for each, or PERCENT more while more than LINES wait; `link` instead serves all lines that go from one node to another. Without it, lines never wait |
//! | `outstanding=LINES` | maximum number of outstanding lines of a CPU's generators; 64 |
//! | `calls=HOPS` | each call of a loop, or of a kernel between cores, with at least HOPS accesses has a line in the report |
//! | `cores=START:END` | virtual addresses of the kernels that hand lines from core to core, the end excluded |
//! | `walks=START:END` | virtual addresses of the kernels of `cores=` that walk over a chain, the end excluded: `absorb=` applies to their accesses, as it does to hops. The other kernels wait for another CPU, and that wait is not the emulator's own cost |
//! | `cluster=CLASS:FIRST[-LAST]` + | these CPUs are near each other, and CLASS is the class of their pairs; the first cluster that has both counts, several may have the same class. A pair that no cluster has is of the class `far` |
//! | `cost=CLASS:OPERATION:STATE:TICKS` + | ticks of an access by a kernel of `cores=`; CLASS is a cluster's or `far`, `own` or `memory`, OPERATION `load`, `store` or `rmw`, STATE is the state in which the line is found, `m`, `e` or `s`, and `i` for `memory`; `*` is every one; the more specific one goes first, then the later one; required for every possible access |
//! | `slowline=EVERY:INDEX:TICKS` | lines of the pages whose number, by virtual address, leaves INDEX when divided by EVERY need TICKS more for a transfer; none |
//! | `absorb=TICKS` | a hop that begins within TICKS ticks of the modelled end of the last one, in the same call of the loop, is counted from that end; the first hop of a window is likewise counted from its stamp; 0 |
//! | `overhead=TICKS` | any other hop is shortened by TICKS; 0 |
//! | `seed=N` | seed of random replacement and noise; 0 |
//! | `windows=HOPS` | each timed window of at least HOPS hops is listed in the report |
//! | `probe=on\|off` | report the touched memory; off |
//! | `report=FILE` | file for the counts at the end; standard error |
//!
//! # The emulator's own cost
//!
//! A hop costs the guest the modelled time and the emulator's time around the callback: 30 to 80 ticks, or several
//! hundred if the emulator's own TLB misses, and up to 1900 with guests of aarch64. Timer interrupts of the guest add
//! some 2 %. `absorb=64M` takes all of this out of every timed window. Without `stamps` it takes it out of every call
//! of a loop except for its first hop; `overhead=100` does that. No time is compensated across two windows or calls. To
//! find the figures of another emulator, run a flat model (`latency=*:*:10000`) without either, and read `gap p50`. The
//! overhead is twice this figure, since a call and its time stamps cost about as much again.
//!
//! With both, the median of calls of 64 hops was within 0.2 % of the model from 1000 to 50 000 ticks, and
//! within 1 % down to 300 in small working sets (QEMU 7.2 and 10.0 on one host). Below that, the model needs
//! longer than the hop. `late hops` counts the hops that were over before the model had answered, `hurried
//! hops` the hops that took no time in order to make up for lost time, and `disturbed hops` the callbacks
//! that ended more than 1000 ticks late because something else ran on the host. If these are more than a few
//! in a thousand, use medians: the means are unreliable.
//!
//! # What was delivered
//!
//! A busy host takes the CPU away for longer than the plugin can compensate, and a guest that reports this is
//! right. So the report has the *excess* of the timed windows: ticks per hop above the modelled ones, with
//! the count of each value, grouped by the common properties of the hops of a window. One line for each
//! group:
//!
//! ```text
//! latency-lab: windows node 0 to node 1; misses 0; hops 103; tail 0; count 150; sum 321; excess 2:149 23:1
//! ```
//!
//! It begins with `level 1`, `node 0 to node 1`, `unclaimed` or, if the hops found their lines in several
//! places, `mixed`. Then come the maximum of TLB levels that a hop missed, the number of hops, the tail of an
//! only hop, the number of windows and the sum of their excesses. `empty window` is the duration of a window
//! without hops, which every other window includes.
//!
//! `arithmetic of 40; excess 150:9` is a group of windows with 40 blocks of known arithmetic; the excess is the ticks of
//! the whole window above the modelled ones.
//!
//! The hops of windows are counted by source, by run of the program (`entry=`), by the nodes of the CPU and
//! of the line, and by the hops of a window. `paid` counts the hops that `directory-bit=` made slower;
//! `asked` is the sum of all modelled ticks:
//!
//! ```text
//! latency-lab: timed in run 1; node 1 to node 0; by 103; windows 2; memory 200; paid 3; own caches 5; other caches 1;
//! asked 10321000; excess 2:1 5:1
//! ```
//!
//! With `windows=`, these windows are listed one by one, so that a test that knows the chain of each line can count by
//! chain: the lowest virtual address of all, and for each window the addresses of its first and last hop, the ticks of its
//! loads without translation, those of translation, and the ticks that the window lasted for above the modelled ones:
//!
//! ```text
//! latency-lab: listed in run 1; node 1 to node 0; by 103; lowest 0x7f2041000000; \
//! 0x7f2041203fc0:0x7f2041000000:1030000:20600:93 0x7f20411d1000:0x7f204155e040:1030000:21000:88
//! ```
//!
//! # Load
//!
//! A generator does not wait for lines. Its first access to a line, by load or store, requests the line: the
//! server of the memory starts when it is done with all earlier lines, and the line arrives as long after its
//! service as the latency of a hop. The CPU waits only when `outstanding=` lines are on their way, until one
//! arrives. Further accesses of a CPU to the same line in a row do not count, so four stores past the caches
//! that fill a line are one line written. A line that is loaded and then stored to is one line read and one
//! written, which is a write-back: it takes the server's time like any other line. Lines go through the
//! caches of the model, except for stores past them, after which no cache has the line; they have no
//! translation. A line in a level of the CPU, of its node or of all nodes, or in the cache of another node,
//! takes no server's time and does not wait, and a store to it causes no write-back. It is one of the touched
//! lines, and is counted as `cached`.
//!
//! A line that prefetchers bring from memory for a hop or a generator goes to the server at the same moment.
//! It is in the levels at once.
//!
//! A hop that finds its line in memory waits for the same server, and then for its service; `latency=` is
//! added to both. It joins the queue at the real time of its beginning, so that `absorb=` does not make it
//! wait for later lines. But if the host takes the CPU away, `absorb=64M` makes up for it by thousands of
//! hops in a row, which wait for each other. `absorb=256K` compensates only for the guest's interrupts.
//!
//! The report lists the imposed load, in ticks of the host and in lines of memory:
//!
//! ```text
//! latency-lab: stream update2 read 3000
//! latency-lab: stream update2 written 1500
//! latency-lab: stream update2 cached 0
//! latency-lab: server node 0 read 3000
//! latency-lab: server node 0 written 1500
//! latency-lab: server node 0 hops 500
//! latency-lab: server node 0 prefetched 0
//! latency-lab: call by 0; chase; from 81; to 46200981; blocks 0; hops 500; asked 46150000; waited 25000; gap 900000;
//! node 0 read 70+9 written 20+3 hops 0+500 prefetched 0+0
//! ```
//!
//! A call lasts from its first access to its return, including any disturbance by the host; one of a kernel between
//! cores, in a timed window, lasts until the closing stamp. `blocks` counts
//! the blocks of `block=` on its CPU since the call before. `asked` is the modelled time of its hops,
//! `waited` the part of it spent waiting for other lines, and `gap` the longest time in which no generator
//! touched a line. Then come the lines that each server had served before the call, and those that it served
//! during the call. The latter, divided by `to` less `from`, are the bandwidth during the call; `to` less
//! `from`, divided by `hops`, is its latency.
//!
//! With `calls=`, the report also has the lines that a CPU touched between two stamps of the guest:
//!
//! ```text
//! latency-lab: stamped by 0; update2; node 0; from 81; to 46200981; read 3000; written 1500
//! ```
//!
//! # Lines from core to core
//!
//! Accesses by the kernels of `cores=` go through a directory. A line is held by no CPU, by one CPU that has
//! changed it (M) or not (E), or by several (S). A load takes it from the nearest holder. A store, or an
//! instruction that loads and stores at once, takes it from the farthest CPU that has to give it up, in the
//! order of `cluster=`. Accesses by other code change nothing, except for stores past the caches by the code
//! of `stamps=`: afterwards no CPU holds the line. The same is true after `clflush`, `clflushopt` or `dc civac`
//! in a kernel of `cores=`. QEMU does not give their address, so the flushed line is the one that the kernel on
//! this CPU touched last. Each access is shortened by `overhead=`. The report has
//!
//! ```text
//! latency-lab: cores far rmw s; count 200; asked 400000; imposed 401234
//! ```
//!
//! # Addresses of nodes
//!
//! Up to 8.1, QEMU does not give a plugin the guest's physical address but a sum of two offsets. `backend=`
//! applies that rule for version 1 of the plugin interface, and the plain one for later versions
//! ([`memory::Placing`]). 8.2 offers version 1 and plain addresses: for 8.2 and for other arrangements, boot
//! once with `probe=on` and a chase that is bound to one node, and pass the reported `touched` range as
//! `node=`. Loads from memory that no node claims cost nothing and are counted as `unclaimed`.
//!
//! # What is not modelled
//!
//! Overlap of independent loads (the emulator runs one at a time), loads by `pop`, `leave` and `ret`, code
//! fetches, and evictions by anything but the modelled loads. Of the stores outside of the kernels above, the
//! plugin sees only those past the caches (`movntdq` and the like), and only if CPUs share a level or take
//! lines from each other: afterwards no CPU holds the line. A load of a cursor that a loop keeps in memory is
//! a hop like any other.

pub mod api;
pub mod arguments;
pub mod cache;
pub mod calls;
pub mod delivered;
pub mod directory;
pub mod drift;
pub mod excesses;
pub mod instruction;
pub mod listed;
pub mod memory;
pub mod model;
pub mod neighbour;
pub mod pacing;
pub mod page;
pub mod plugin;
pub mod prefetch;
pub mod readers;
pub mod report;
pub mod server;
pub mod simulated;
pub mod stamped;
pub mod tables;
pub mod timed;
pub mod tlb;
pub mod touched;
pub mod traffic;
