//! A QEMU TCG plugin that gives an emulated machine memory latencies that are
//! known, so that a program which measures them can be checked against the truth.
//!
//! The loads of a range of the guest's code (the chase loops) are led through a
//! model of TLB, caches and NUMA nodes, and the time-stamp counter of the host,
//! which is the guest's as well, is awaited until the modelled time has passed.
//! Everything else runs at the speed of the emulator.
//!
//! ```text
//! qemu-system-x86_64 … -plugin liblatency_lab_plugin.so,start=0x401000,end=0x402000,\
//!     level=32K:8:3000,level=1M:16:5000:random,backend=0:512M,backend=1:512M,cpu=1:1,\
//!     latency=*:*:20000,latency=0:0:10000,latency=1:1:10000,absorb=1M,overhead=100
//! ```
//!
//! # Arguments
//!
//! Numbers are decimal or `0x…`, with binary K, M and G; all times are ticks of
//! the time-stamp counter. An argument that cannot be used ends QEMU with a
//! message on standard error. Those marked `+` may be repeated.
//!
//! | argument | meaning |
//! | --- | --- |
//! | `start=ADDRESS` `end=ADDRESS` | virtual addresses of the code whose loads are modelled, the end excluded; required |
//! | `stamps=START:END` | virtual addresses of code, the end excluded, in which `rdtsc` opens a timed window and `rdtscp` closes it; without them every call of a loop is a window |
//! | `entry=ADDRESS` | virtual address of the instruction with which the program begins that times windows: what it timed is told by its run; without, all of it is run 0 |
//! | `block=START:END:TICKS` + | virtual addresses of a routine, the end excluded, that does known arithmetic in blocks and counts them by `dec rdi`; ticks of each block: the guest's core clock. Without, it is the host's |
//! | `level=SIZE:WAYS:TICKS[:lru\|random][:node\|shared]` + | a cache level, the nearest first: lines of 64 bytes, ticks of a load that hits it, all told; private to each CPU, or one for each `node`, or one `shared` by all; LRU by default |
//! | `other=TICKS` | ticks of a load whose line is not in a level of its CPU or node, and is in one of another node; without, these serve their own node alone |
//! | `directory-bit=TICKS` | memory keeps for each line whether a node other than its own read it last, and a load of it from its own node takes TICKS more then, once; loads that a cache serves change nothing, and a store past the caches clears the bit; none |
//! | `latency=FROM:TO:TICKS` + | ticks of a load by a CPU of node FROM from memory of node TO, all told; `*` is every node; the narrower goes before the wider, the later before the earlier; required for every pair unless `probe=on` |
//! | `cpu=FIRST[-LAST]:NODE` + | node of these CPUs; 0 for all that are not named |
//! | `node=NODE:START:SIZE` + | memory of a node, in the addresses that a plugin is told (below) |
//! | `backend=NODE:SIZE` + | instead: the `memory-backend-…` objects, in the order of the command line and of the nodes. Without either, all memory is node 0 |
//! | `tlb=ENTRIES:TICKS[:WAYSway][:4k\|2m]` + | a TLB level, the nearest first: the ticks are added to a load that misses it; fully associative and for both page sizes by default; LRU |
//! | `page=auto\|4k\|2m` | size of the guest's pages; `auto` takes an access whose virtual and physical addresses agree in 21 bits to be on a 2 MiB page, until an access beside it shows that they did by chance |
//! | `prefetch=LINES` | a prefetcher of each CPU that runs LINES lines ahead of a walk in order, up or down, within each 4 KiB, of chases and generators; 0 |
//! | `adjacent=on\|off` | another one, which brings the other line of the same 128 bytes with each line that is not in a level of its CPU; off |
//! | `neighbour=LINES` | a program elsewhere uses LINES lines of its own, each once, in every 2^20 ticks in each level of a node or of all; 0 |
//! | `tail=EVERY:TICKS` + | every n-th load of a CPU is slower |
//! | `pause=EVERY:TICKS` + | after every n-th load of a CPU nothing happens for so long |
//! | `drift=PERCENT:TICKS` | all that loads take is multiplied by a factor that follows a sine of time, 1 ± PERCENT, with that period; none |
//! | `burst=EVERY:LENGTH:PERCENT` | for LENGTH ticks out of every EVERY loads take PERCENT longer; none |
//! | `noise=PERCENT:EVERY` | all that loads take is multiplied by a factor that is drawn anew after so many loads of a CPU, uniform in 1 ± PERCENT; none |
//! | `stream=START:END:NAME` + | virtual addresses of a kernel of load generators, the end excluded, and its name in the report |
//! | `server=NODE\|link:TICKS[:LINES:PERCENT]` + | the memory of NODE serves one line at a time and needs TICKS for each, or PERCENT more while more than LINES wait; `link` serves instead of them all that goes from one node to another. Without, lines never wait |
//! | `outstanding=LINES` | lines that the generators of a CPU may have on their way; 64 |
//! | `calls=HOPS` | each call of a loop, or of a kernel between cores, with at least so many accesses has a line in the report |
//! | `cores=START:END` | virtual addresses of the kernels that hand lines from core to core, the end excluded |
//! | `cluster=CLASS:FIRST[-LAST]` + | these CPUs are near each other, and CLASS is the class of their pairs; the first cluster that has both counts, several may have the same class. What no cluster has is the class `far` |
//! | `cost=CLASS:OPERATION:STATE:TICKS` + | ticks of an access by such a kernel; CLASS is that of a cluster or `far`, `own` or `memory`, OPERATION `load`, `store` or `rmw`, STATE the one in which the line is found, `m`, `e` or `s`, and `i` for `memory`; `*` is every one; the narrower goes before the wider, the later before the earlier; required for all that can happen |
//! | `slowline=EVERY:INDEX:TICKS` | lines of the pages whose number, by virtual address, leaves INDEX when divided by EVERY take so much longer to come from elsewhere; none |
//! | `absorb=TICKS` | a hop that begins within so many ticks of the modelled end of the last one, in the same call of the loop, is counted from that end, and so is the first one from the stamp that opens its window; 0 |
//! | `overhead=TICKS` | any other hop is shortened by so much; 0 |
//! | `seed=N` | of random replacement and noise; 0 |
//! | `probe=on\|off` | report which memory was touched; off |
//! | `report=FILE` | where the counts go at the end; standard error |
//!
//! # The emulator's own cost
//!
//! A hop costs the guest what is modelled and what the emulator needs around the
//! callback: 30 to 80 ticks, several hundred where its own TLB does not reach.
//! Timer interrupts of the guest take some 2 % more. `absorb=64M` takes all of this
//! out of every timed window and, without `stamps`, out of every call of a loop but
//! its first hop, which `overhead=100` sees to. Nothing is made good across two
//! windows or calls. To find the figures of another emulator, run a flat model
//! (`latency=*:*:10000`) without either, and read `gap p50`; that, doubled, is the
//! overhead, since a call and its time stamps cost about as much again.
//!
//! With both, the median of calls of 64 hops stood within 0.2 % of the model from
//! 1000 to 50 000 ticks, and within 1 % down to 300 in small working sets (QEMU 7.2
//! and 10.0 on one host). Below, the model needs longer than the hop: `late hops`
//! counts those over before it had answered, `hurried hops` those that took no
//! time in order to make good what was lost, `disturbed hops` callbacks that ended
//! more than 1000 ticks late, since something else ran on the host. Where these
//! are more than a few in a thousand, means are not to be relied on, medians are.
//!
//! # What was delivered
//!
//! A busy host takes the CPU away for longer than can be made good, and a guest that
//! says so is right. So the report has the *excess* of the timed windows: ticks a hop
//! above what the model asked for, and how often each was seen, by what all hops of a
//! window had in common. One line for each:
//!
//! ```text
//! latency-lab: windows node 0 to node 1; misses 0; hops 103; tail 0; count 150; sum 321; excess 2:149 23:1
//! ```
//!
//! It begins with `level 1`, `node 0 to node 1`, `unclaimed` or, if not all hops found
//! their lines in the same place, `mixed`; then come the TLB levels missed by any hop,
//! the hops, the tail of an only hop, the windows and the sum of their excesses. `empty
//! window` is what a window without hops takes, which is in each of the others as well.
//!
//! The hops of windows are told by what served them, by run of the program (`entry=`), by the nodes of the CPU and of
//! the line, and by the hops of a window; `paid` are those that `directory-bit=` made longer, `asked` is the sum of
//! what all were to take:
//!
//! ```text
//! latency-lab: timed in run 1; node 1 to node 0; by 103; windows 2; memory 200; paid 3; own caches 5; other caches 1;
//! asked 10321000; excess 2:1 5:1
//! ```
//!
//! # Load
//!
//! A generator waits for no line. Its first access to a line, by load or store, sends for
//! it: the server of the memory starts when it is done with all lines before, and the
//! line is there as long after its service as a hop takes. Only when `outstanding=` lines
//! are on their way, the CPU waits until one is there. More accesses of a CPU to the same
//! line in a row are no other line; so four stores past the caches that fill a line are one
//! line written. A line that is loaded and then stored to is one read and one written, which
//! is a write-back: it takes the server's time like any other. Lines go through the caches of
//! the model, but for stores past them, after which no cache has the line; they have no
//! translation. A line that a level of the CPU, of its node or of all has, or the cache of
//! another node, takes no server's time and waits for nothing, and a store to it is no
//! write-back. It is one of the lines touched, and counted as `cached`.
//!
//! What prefetchers bring from memory for a hop or a generator is a line for the server at
//! the same moment. It is in the levels at once.
//!
//! A hop that finds its line in memory waits for the same server, and then for its service;
//! `latency=` is what it takes besides. It is in the queue from when it really begins, so
//! `absorb=` does not let it wait for lines that came later. But where the host takes the
//! CPU away, `absorb=64M` makes it good by thousands of hops in a row, which wait for each
//! other: 256K takes out the guest's interrupts alone.
//!
//! What was imposed has its lines in the report, in ticks of the host, and lines of memory:
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
//! A call lasts from its first access to its return, with whatever the host did to it;
//! `blocks` are those of `block=` that its CPU has done since the call before; `asked` is
//! what its hops were to take, `waited` the part of it for which others were served, `gap`
//! the longest time in which no generator touched a line; and then comes what each server had served before and what it
//! served meanwhile. That divided by `to` less `from` is the bandwidth during the call, and `to` less `from` by `hops`
//! its latency.
//!
//! With `calls=`, what a CPU touched between two stamps by which the guest times it is there, too:
//!
//! ```text
//! latency-lab: stamped by 0; update2; node 0; from 81; to 46200981; read 3000; written 1500
//! ```
//!
//! # Lines from core to core
//!
//! Accesses by the kernels of `cores=` go through a directory: a line is with nobody, with
//! one CPU that has changed it (M) or not (E), or with several (S). A load takes it from
//! the nearest CPU that has it, a store or an instruction that loads and stores at once
//! from the farthest that has to give it up, in the order of `cluster=`. Accesses by other
//! code change nothing, but for stores past the caches by the code of `stamps=`: nobody has the
//! line afterwards. So it is after `clflush` or `clflushopt` in such a kernel, of which
//! QEMU does not say the address: what is flushed is the line that the kernel on this CPU
//! has touched last. Each access is shortened by `overhead=`. The report has
//!
//! ```text
//! latency-lab: cores far rmw s; count 200; asked 400000; imposed 401234
//! ```
//!
//! # Addresses of nodes
//!
//! What QEMU tells a plugin is, up to 8.1, not the guest's physical address but a
//! sum of two offsets; `backend=` knows that rule for version 1 of the plugin
//! interface, and the plain one for later versions ([`memory::Placing`]). 8.2
//! offers version 1 and plain addresses: there, and where other arrangements are
//! used, boot once with `probe=on` and a chase that is bound to one node, and give
//! the `touched` range that is reported as `node=`. Loads from memory that no
//! node claims cost nothing and are counted as `unclaimed`.
//!
//! # What is not modelled
//!
//! Overlap of independent loads (the emulator runs one at a time), loads
//! by `pop`, `leave` and `ret`, code fetches, and evictions
//! by anything but the modelled loads. Of stores outside of the kernels above those past the caches
//! (`movntdq` and its like) alone are seen, where CPUs share a level or take lines from each other: nobody has the
//! line afterwards. A load of a cursor that a loop keeps in memory is a hop like any other.

pub mod api;
pub mod arguments;
pub mod cache;
pub mod calls;
pub mod delivered;
pub mod directory;
pub mod drift;
pub mod excesses;
pub mod instruction;
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
pub mod stamped;
pub mod timed;
pub mod tlb;
pub mod touched;
pub mod traffic;
