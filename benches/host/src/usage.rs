//! What this process has used so far.

/// What this process has used so far.
pub struct Usage {
    /// Time on processors, ours and the system's for us.
    pub cpu_seconds: f64,
    /// The most memory it had at once.
    pub peak_megabytes: f64,
}

/// Asks the system.
pub fn usage() -> Usage {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let cpu_seconds = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
    Usage { cpu_seconds, peak_megabytes: memory("VmHWM:") }
}

/// A line of `/proc/self/status`, in megabytes.
pub fn memory(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|it| it.strip_prefix(line));
    let kilobytes = found.and_then(|it| it.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
