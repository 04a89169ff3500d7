//! Guests under QEMU: the executable under test is process 1 of a small machine.
//!
//! Describe a [`Machine`], [`Machine::boot`] it with the tool's arguments, look at the [`Console`]. The
//! emulator is not a model of any hardware's latency; it shows that nodes, policies and page pools are
//! handled correctly.

mod architecture;
mod console;
pub(crate) mod debian;
mod initramfs;
mod kernel;
mod machine;

pub use architecture::Architecture;
pub use console::Console;
pub use initramfs::Initramfs;
pub use kernel::{Age, KERNEL_VARIABLE, at_the_end, firmware_of_aarch64, release, with_pages_of_16_kib};
pub use machine::{Machine, NodeSpec};

use crate::confine::Confine;
use crate::program::scratch;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Maximum number of guests at a time; more slow each other down until they reach time limits.
const GUESTS_AT_A_TIME: u32 = 2;

/// Checks that guests can be booted here, and returns the path of the kernel.
///
/// The first call may download the kernel.
///
/// # Errors
///
/// The missing program or file.
pub fn available(architecture: Architecture) -> Result<&'static Path, String> {
    static KERNELS: [OnceLock<Result<PathBuf, String>>; 2] = [const { OnceLock::new() }; 2];
    let found = KERNELS[architecture as usize].get_or_init(|| {
        let [emulator, package] = architecture.emulator();
        let version = Command::new(emulator).arg("--version").stdin(Stdio::null()).output();
        match version {
            Ok(output) if output.status.success() => kernel::obtain(architecture),
            Ok(output) => Err(format!("{emulator} --version failed ({})", output.status)),
            Err(error) => Err(format!("{emulator} (Debian package {package}): {error}")),
        }
    });
    found.as_deref().map_err(Clone::clone)
}

/// Returns true if `test` can boot guests of the host's architecture; otherwise the reason has been reported.
///
/// # Panics
///
/// If it cannot and [`crate::skip::REQUIRE_VARIABLE`] is set.
pub fn ready(test: &str) -> bool {
    is_ready(test, Architecture::X86_64)
}

/// Does the same as [`ready`] for guests of an architecture.
///
/// # Panics
///
/// Like [`ready`].
pub fn is_ready(test: &str, architecture: Architecture) -> bool {
    match available(architecture) {
        Ok(_) => true,
        Err(reason) => {
            crate::skip::skip(test, &reason);
            false
        }
    }
}

impl Machine {
    /// Boots the machine with `arguments` for the tool and waits until it powers itself off.
    ///
    /// # Panics
    ///
    /// If [`Machine::try_boot`] fails, with the console.
    pub fn boot(&self, arguments: &[&str]) -> Console {
        self.try_boot(arguments).unwrap_or_else(|reason| panic!("{reason}"))
    }

    /// Boots the machine with `arguments` for the tool and waits until it powers itself off.
    ///
    /// # Errors
    ///
    /// If the emulator is missing or refuses to start, or if the guest is still running at the time limit;
    /// the text ends with the console so far.
    pub fn try_boot(&self, arguments: &[&str]) -> Result<Console, String> {
        self.boot_until_it_speaks(arguments)?.ended()
    }

    /// Boots a machine, and repeats a boot without any output: its kernel died or stopped before the tool
    /// ran, which happens on a busy host. Each repetition is reported. There are at most two, or one if the
    /// guest was silent until the time limit.
    fn boot_until_it_speaks(&self, arguments: &[&str]) -> Result<Boot, String> {
        let mut patience = 3;
        loop {
            let boot = self.boot_once(arguments)?;
            patience -= if boot.hung { 2 } else { 1 };
            if !boot.console.is_silent() || patience <= 0 {
                return Ok(boot);
            }
            eprintln!("a guest said nothing in {:?}; booted again", boot.console.elapsed);
        }
    }

    /// Boots the machine once, prepares its scene, runs the tool with each of `runs`, and returns their
    /// output.
    ///
    /// The tool is then not process 1.
    ///
    /// # Panics
    ///
    /// If [`Machine::try_boot`] fails, with the console; if a run is missing.
    pub fn boot_all<const N: usize>(&self, runs: [&[&str]; N]) -> [Console; N] {
        let all = self.try_boot_all(runs).unwrap_or_else(|reason| panic!("{reason}"));
        all.unwrap_or_else(|| panic!("the guest's kernel died or stopped each time before the tool ran"))
    }

    /// Does the same as [`Machine::boot_all`]; returns `None` if the kernel itself does not come up on this
    /// emulator.
    ///
    /// # Errors
    ///
    /// If [`Machine::try_boot`] fails; if a run is missing, with the console.
    pub fn try_boot_all<const N: usize>(&self, runs: [&[&str]; N]) -> Result<Option<[Console; N]>, String> {
        let mut machine = self.clone();
        let tool = fs::read(machine.architecture.binary()?)
            .map_err(|error| format!("cannot read the executable: {error}"))?;
        machine.files.push(("tool".into(), tool));
        machine.init = Some(machine.architecture.guest()?);
        let mut words: Vec<&str> = self.scene.iter().map(String::as_str).collect();
        words.extend(runs.iter().flat_map(|run| ["run"].iter().chain(*run)));
        // Not on the command line: a kernel panics if process 1 has more than 32 arguments there.
        machine.files.push(("words".into(), words.join("\n").into()));
        let boot = machine.boot_until_it_speaks(&[])?;
        if boot.console.is_silent() {
            return Ok(None);
        }
        let console = boot.ended()?;
        let all: Result<[Console; N], _> = console.runs().try_into();
        all.map(Some).map_err(|all| format!("{} of {N} runs\n{}", all.len(), console.framed()))
    }

    /// Boots the machine once and waits until it powers itself off or its time is up, whatever its output.
    ///
    /// # Errors
    ///
    /// If the emulator is missing or fails.
    pub fn boot_once(&self, arguments: &[&str]) -> Result<Boot, String> {
        let kernel = match &self.kernel {
            Some(image) => image,
            None => available(self.architecture)?,
        };
        let program = self.init.clone().map_or_else(|| self.architecture.binary(), Ok)?;
        let init =
            fs::read(&program).map_err(|error| format!("cannot read {}: {error}", program.display()))?;
        let mut archive = Initramfs::new(&init);
        for (path, content) in &self.files {
            archive.file(path, content);
        }
        let archive = TemporaryFile::new(&archive.finish())?;
        let _permit = Permit::wait();
        let begin = Instant::now();
        let [emulator, _] = self.architecture.emulator();
        let mut command = Command::new(emulator);
        command.args(self.arguments()).arg("-kernel").arg(kernel).arg("-initrd").arg(&archive.0);
        command.args(["-append", &self.command_line(arguments)]);
        if self.is_timed() {
            command.with_priority();
        }
        let mut guest = Guest::start(&mut command)?;
        let status = guest.wait(begin + self.timeout, self.timeout / 4);
        let (printed, complaints) = guest.outputs();
        let console = Console::new(&printed, begin.elapsed());
        match status {
            Some(status) if !status.success() => Err(format!(
                "{emulator} failed ({status})\n{}\n{command:?}\n{}",
                String::from_utf8_lossy(&complaints).trim_end(),
                console.framed()
            )),
            status => Ok(Boot { console, hung: status.is_none() }),
        }
    }
}

/// One boot of a guest.
#[derive(Debug)]
pub struct Boot {
    /// Its whole output.
    pub console: Console,
    /// True if it was still running at the time limit and was killed.
    pub hung: bool,
}

impl Boot {
    fn ended(self) -> Result<Console, String> {
        match self.hung {
            true => Err(format!("the guest did not power off in time\n{}", self.console.framed())),
            false => Ok(self.console),
        }
    }
}

/// A running emulator; its outputs are being read. It is killed on drop.
struct Guest {
    child: Child,
    outputs: [Option<JoinHandle<Vec<u8>>>; 2],
}

impl Guest {
    fn start(command: &mut Command) -> Result<Self, String> {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned
            .map_err(|error| format!("cannot start {}: {error}", command.get_program().to_string_lossy()))?;
        let outputs = [child.stdout.take().map(collect), child.stderr.take().map(collect)];
        Ok(Guest { child, outputs })
    }

    /// Returns the emulator's status, or `None` if it had to be killed: at `deadline`, or once it had used
    /// `most` CPU time. On a busy host a guest needs long to end, and a guest that hangs wastes a CPU.
    fn wait(&mut self, deadline: Instant, most: Duration) -> Option<ExitStatus> {
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) if cpu_time(self.child.id()) > most => break,
                Ok(None) => thread::sleep(Duration::from_millis(20)),
                Ok(status) => return status,
                Err(_) => break,
            }
        }
        self.kill();
        None
    }

    fn outputs(&mut self) -> (Vec<u8>, Vec<u8>) {
        let [printed, complaints] =
            self.outputs.each_mut().map(|thread| thread.take().and_then(|thread| thread.join().ok()));
        (printed.unwrap_or_default(), complaints.unwrap_or_default())
    }

    fn kill(&mut self) {
        // Both fail only if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the CPU time that a process has used, by proc_pid_stat(5); zero if that cannot be read.
fn cpu_time(process: u32) -> Duration {
    /// Ticks of the kernel's interface, equal on every x86.
    const TICKS_PER_SECOND: f64 = 100.0;
    let line = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A name may hold anything, and ends with the last parenthesis; the times are the 14th and 15th field.
    let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Duration::from_secs_f64(ticks / TICKS_PER_SECOND)
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A read error ends the text; the part before it is still worth showing.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

/// A file that is deleted on drop.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(content: &[u8]) -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = TemporaryFile(scratch()?.join(format!("guest-{}-{number}.cpio", std::process::id())));
        fs::write(&file.0, content).map_err(|error| format!("cannot write {}: {error}", file.0.display()))?;
        Ok(file)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Left-overs in `target` cost only space.
        let _ = fs::remove_file(&self.0);
    }
}

static RUNNING: Mutex<u32> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// A permit to run one guest.
struct Permit;

impl Permit {
    fn wait() -> Self {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = ENDED
            .wait_while(running, |running| *running >= GUESTS_AT_A_TIME)
            .unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_process_uses_cpu_time() {
        let (begin, own) = (Instant::now(), std::process::id());
        while cpu_time(own) < Duration::from_millis(50) && begin.elapsed() < Duration::from_secs(60) {}
        assert!(cpu_time(own) >= Duration::from_millis(50));
        assert_eq!(cpu_time(u32::MAX), Duration::ZERO);
    }
}
