//! A machine to be emulated: nodes, distances, huge page pools, processor.
//!
//! Turns the description into the arguments of QEMU and the kernel's command line; starts nothing.

use super::architecture::Architecture;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum length of a command line that a kernel keeps, on x86-64 and on aarch64.
const COMMAND_LINE_LIMIT: usize = 2047;

/// Initialisation that the kernel can skip in guests that live for seconds.
const NOT_NEEDED: &str = "load_system_certificate_list,init_kprobe_trace,cubictcp_register";

/// A NUMA node. Its id is its position in the machine's list: the kernel numbers the declared nodes without
/// gaps, so a machine cannot have gaps.
#[derive(Clone, Copy, Debug)]
pub struct NodeSpec {
    /// CPUs of the node; numbered through all nodes in order.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory: u32,
}

impl NodeSpec {
    /// Makes a node with CPUs and memory (MiB).
    pub const fn new(cpus: u32, memory: u32) -> Self {
        NodeSpec { cpus, memory }
    }

    /// Makes a node with memory (MiB) and no CPUs.
    pub const fn memory_only(memory: u32) -> Self {
        NodeSpec { cpus: 0, memory }
    }

    /// Makes a node with CPUs and no memory.
    pub const fn cpus_only(cpus: u32) -> Self {
        NodeSpec { cpus, memory: 0 }
    }
}

/// The description of a guest; see [`Machine::boot`](super::Machine::boot).
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) architecture: Architecture,
    pub(super) nodes: Vec<NodeSpec>,
    distances: Vec<Vec<u8>>,
    read_latencies: Vec<Vec<u32>>,
    huge_pages: Vec<(u32, u32)>,
    kernel_parameters: Vec<String>,
    cpu_model: String,
    accelerator: String,
    plugins: Vec<String>,
    icount: Option<u8>,
    qemu_arguments: Vec<String>,
    pub(super) kernel: Option<PathBuf>,
    pub(super) init: Option<PathBuf>,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) scene: Vec<String>,
    pub(super) timeout: Duration,
}

impl Machine {
    /// Makes a machine with these nodes, the emulator's largest processor model, and a time limit of five
    /// minutes. A single node means a machine without NUMA.
    pub fn new(nodes: &[NodeSpec]) -> Self {
        Machine {
            architecture: Architecture::default(),
            nodes: nodes.to_vec(),
            distances: Vec::new(),
            read_latencies: Vec::new(),
            huge_pages: Vec::new(),
            kernel_parameters: Vec::new(),
            cpu_model: "max".into(),
            accelerator: "tcg".into(),
            plugins: Vec::new(),
            icount: None,
            qemu_arguments: Vec::new(),
            kernel: None,
            init: None,
            files: Vec::new(),
            scene: Vec::new(),
            timeout: Duration::from_secs(300),
        }
    }

    /// Returns true for a guest of the lab, whose plugin imposes times: other programs that take its CPU away would add
    /// to them.
    pub(super) const fn is_timed(&self) -> bool {
        !self.plugins.is_empty()
    }

    /// Makes it a machine with this instruction set.
    pub fn architecture(mut self, architecture: Architecture) -> Self {
        self.architecture = architecture;
        self
    }

    /// Sets the distance table (SLIT), one row for each node.
    pub fn distances(mut self, rows: &[&[u8]]) -> Self {
        self.distances = rows.iter().map(|row| row.to_vec()).collect();
        self
    }

    /// Sets the read latencies in ns that the firmware declares (HMAT): one row a node, one column a target.
    /// Rows of nodes without CPUs are not used.
    pub fn read_latencies(mut self, rows: &[&[u32]]) -> Self {
        self.read_latencies = rows.iter().map(|row| row.to_vec()).collect();
        self
    }

    /// Sets the 2 MiB pages in the pool of each node: (node, pages).
    pub fn huge_pages(mut self, pools: &[(u32, u32)]) -> Self {
        self.huge_pages = pools.to_vec();
        self
    }

    /// Adds a parameter for the kernel, such as `maxcpus=1`.
    pub fn kernel_parameter(mut self, parameter: &str) -> Self {
        self.kernel_parameters.push(parameter.into());
        self
    }

    /// Sets the processor model, such as `qemu64` (which has no rdtscp).
    pub fn cpu_model(mut self, model: &str) -> Self {
        self.cpu_model = model.into();
        self
    }

    /// Sets the accelerator with its options, such as `tcg,thread=single`.
    pub fn accelerator(mut self, accelerator: &str) -> Self {
        self.accelerator = accelerator.into();
        self
    }

    /// Loads a TCG plugin: `FILE[,name=value...]`.
    pub fn plugin(mut self, plugin: &str) -> Self {
        self.plugins.push(plugin.into());
        self
    }

    /// Makes the guest's clock advance by 2^`shift` ns per instruction, so that ticks repeat exactly. For
    /// machines with one CPU.
    pub fn icount(mut self, shift: u8) -> Self {
        self.icount = Some(shift);
        self
    }

    /// Adds arguments for QEMU, unchanged.
    pub fn qemu_arguments(mut self, arguments: &[&str]) -> Self {
        self.qemu_arguments.extend(arguments.iter().map(|&argument| argument.into()));
        self
    }

    /// Boots this kernel instead of the one of this system's release.
    pub fn kernel(mut self, image: &Path) -> Self {
        self.kernel = Some(image.into());
        self
    }

    /// Boots this program instead of the executable under test.
    pub fn init(mut self, program: PathBuf) -> Self {
        self.init = Some(program);
        self
    }

    /// Adds a file to the guest, in `/tmp`, `/dev` or the root; `path` has no leading slash.
    pub fn file(mut self, path: &str, content: &[u8]) -> Self {
        self.files.push((path.into(), content.to_vec()));
        self
    }

    /// Prepares a condition in which [`Machine::boot_all`] runs the executable; the words are those of the
    /// package `latency-guest`.
    pub fn scene(mut self, preparations: &[&str]) -> Self {
        self.scene = preparations.iter().map(|&word| word.into()).collect();
        self
    }

    /// Sets the time after which the guest is killed and the boot has failed. A quarter of it applies if the
    /// emulator computes all the time, as it does for a guest that hangs.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Returns the arguments of QEMU that describe this machine, without kernel and file system.
    pub fn arguments(&self) -> Vec<String> {
        let cpus: u32 = self.nodes.iter().map(|node| node.cpus).sum();
        let memory: u32 = self.nodes.iter().map(|node| node.memory).sum();
        let hmat = if self.read_latencies.is_empty() { "" } else { ",hmat=on" };
        let mut list = List(Vec::new());
        list.pair("-machine", format!("{}{hmat}", self.architecture.board()));
        list.pair("-accel", self.accelerator.clone());
        let properties = self.architecture.properties(&self.cpu_model);
        list.pair("-cpu", format!("{}{properties}", self.cpu_model));
        list.pair("-smp", cpus.to_string());
        list.pair("-m", format!("{memory}M"));
        if self.nodes.len() > 1 {
            self.numa(&mut list);
        }
        if let Some(shift) = self.icount {
            list.pair("-icount", format!("shift={shift}"));
        }
        for plugin in &self.plugins {
            list.pair("-plugin", plugin.clone());
        }
        // Without a display, `-nographic` would put the firmware's screen on the serial line.
        for word in
            "-display none -nodefaults -no-user-config -no-reboot -serial stdio -monitor none".split(' ')
        {
            list.0.push(word.into());
        }
        list.0.extend(self.qemu_arguments.iter().cloned());
        list.0
    }

    fn numa(&self, list: &mut List) {
        let mut first = 0;
        for (id, node) in self.nodes.iter().enumerate() {
            let mut option = format!("node,nodeid={id}");
            if node.cpus > 0 {
                option += &format!(",cpus={first}-{}", first + node.cpus - 1);
                first += node.cpus;
            }
            if node.memory > 0 {
                list.pair("-object", format!("memory-backend-ram,id=memory{id},size={}M", node.memory));
                option += &format!(",memdev=memory{id}");
            }
            if let Some(initiator) = self.nearest_initiator(id) {
                option += &format!(",initiator={initiator}");
            }
            list.pair("-numa", option);
        }
        for (source, row) in self.distances.iter().enumerate() {
            for (target, distance) in row.iter().enumerate() {
                list.pair("-numa", format!("dist,src={source},dst={target},val={distance}"));
            }
        }
        for (initiator, row) in self.read_latencies.iter().enumerate() {
            if self.nodes[initiator].cpus == 0 {
                continue;
            }
            for (target, latency) in row.iter().enumerate() {
                let pair = format!("hmat-lb,initiator={initiator},target={target},hierarchy=memory");
                list.pair("-numa", format!("{pair},data-type=access-latency,latency={latency}"));
                list.pair("-numa", format!("{pair},data-type=access-bandwidth,bandwidth=10G"));
            }
        }
    }

    /// Returns the node with CPUs that declares the lowest latency to `target`; `None` without HMAT.
    fn nearest_initiator(&self, target: usize) -> Option<usize> {
        let rows = self.read_latencies.iter().enumerate();
        if self.nodes[target].cpus > 0 && !self.read_latencies.is_empty() {
            return Some(target);
        }
        rows.filter(|&(id, _)| self.nodes[id].cpus > 0)
            .min_by_key(|(_, row)| row.get(target).copied().unwrap_or(u32::MAX))
            .map(|(id, _)| id)
    }

    /// Returns the kernel's command line with `arguments` for process 1 after the double dash.
    ///
    /// # Panics
    ///
    /// If it is longer than the kernel keeps.
    pub fn command_line(&self, arguments: &[&str]) -> String {
        let mut words = vec![format!("console={}", self.architecture.console())];
        words.extend(["quiet", "loglevel=0", "panic=-1"].map(String::from));
        words.extend(self.architecture.kernel_parameters().iter().map(|&parameter| parameter.into()));
        // A quarter of the time of a boot: the kernel's tests of its own ciphers, certificates and traces.
        words.push("cryptomgr.notests=1".into());
        words.push(format!("initcall_blacklist={NOT_NEEDED}"));
        if !self.huge_pages.is_empty() {
            let pools: Vec<String> =
                self.huge_pages.iter().map(|(node, pages)| format!("{node}:{pages}")).collect();
            words.push(format!("default_hugepagesz=2M hugepages={}", pools.join(",")));
        }
        words.extend(self.kernel_parameters.iter().cloned());
        words.push("--".into());
        words.extend(arguments.iter().map(|argument| {
            if argument.contains(' ') { format!("\"{argument}\"") } else { (*argument).into() }
        }));
        let line = words.join(" ");
        assert!(line.len() <= COMMAND_LINE_LIMIT, "a kernel command line of {} bytes", line.len());
        line
    }
}

/// Arguments, collected in pairs of option and value.
struct List(Vec<String>);

impl List {
    fn pair(&mut self, option: &str, value: String) {
        self.0.extend([option.to_string(), value]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(machine: &Machine, option: &str) -> Vec<String> {
        let arguments = machine.arguments();
        let pairs = arguments.windows(2).filter(|pair| pair[0] == option);
        pairs.map(|pair| pair[1].clone()).collect()
    }

    #[test]
    fn nodes_own_their_cpus_and_memory() {
        let nodes = [NodeSpec::new(2, 256), NodeSpec::cpus_only(1), NodeSpec::memory_only(128)];
        let machine = Machine::new(&nodes);
        assert_eq!(
            values(&machine, "-numa"),
            [
                "node,nodeid=0,cpus=0-1,memdev=memory0",
                "node,nodeid=1,cpus=2-2",
                "node,nodeid=2,memdev=memory2"
            ]
        );
        assert_eq!(values(&machine, "-smp"), ["3"]);
        assert_eq!(values(&machine, "-m"), ["384M"]);
        assert!(values(&Machine::new(&nodes[..1]), "-numa").is_empty());
    }

    #[test]
    fn declared_latencies_name_the_nearest_initiator() {
        let nodes = [NodeSpec::new(1, 64), NodeSpec::new(1, 64), NodeSpec::memory_only(64)];
        let machine = Machine::new(&nodes).read_latencies(&[&[80, 120, 300], &[120, 80, 200], &[]]);
        let numa = values(&machine, "-numa");
        assert!(numa.contains(&"node,nodeid=2,memdev=memory2,initiator=1".to_string()), "{numa:?}");
        assert_eq!(numa.iter().filter(|option| option.contains("data-type=access-latency")).count(), 6);
        assert_eq!(values(&machine, "-machine"), ["q35,hmat=on"]);
    }

    #[test]
    fn the_tools_arguments_follow_the_double_dash() {
        let machine = Machine::new(&[]).huge_pages(&[(0, 4), (1, 8)]).kernel_parameter("maxcpus=1");
        let line = machine.command_line(&["matrix", "--output=a b"]);
        assert!(
            line.ends_with(" default_hugepagesz=2M hugepages=0:4,1:8 maxcpus=1 -- matrix \"--output=a b\""),
            "{line}"
        );
    }
}
