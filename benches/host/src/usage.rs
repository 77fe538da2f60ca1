//! What this process has used so far.

/// What this process has used so far.
pub struct Usage {
    /// Time on processors, ours and the system's for us.
    pub cpu_seconds: f64,
    /// The most memory it had at once.
    pub peak_megabytes: f64,
}

/// The system counts in hundredths of seconds on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

/// Reads it from `/proc`.
pub fn usage() -> Usage {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain anything.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |place: usize| fields.get(place).and_then(|it| it.parse::<f64>().ok());
    let cpu_seconds = (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / TICKS_PER_SECOND;
    Usage { cpu_seconds, peak_megabytes: memory("VmHWM:") }
}

/// A line of `/proc/self/status`, in megabytes.
pub fn memory(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|it| it.strip_prefix(line));
    let kilobytes = found.and_then(|it| it.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
