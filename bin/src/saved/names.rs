//! The names of members and columns: those of this schema, and those of earlier ones.

/// The names of schema 1 that are others today, each with the name of today.
const RENAMED: [(&str, &str); 19] = [
    ("from", "initiator_node"),
    ("to", "target_node"),
    ("a", "initiator_cpu"),
    ("b", "target_cpu"),
    ("cpu", "initiator_cpu"),
    ("owner", "target_cpu"),
    ("home", "home_node"),
    ("ci95_low_ns", "ns_low"),
    ("ci95_high_ns", "ns_high"),
    ("ci95_low_bytes_per_second", "bytes_per_second_low"),
    ("ci95_high_bytes_per_second", "bytes_per_second_high"),
    ("order", "walk_order"),
    ("lanes", "chains"),
    ("generators", "cores"),
    ("limit", "peak_bandwidth"),
    ("bandwidths", "rows"),
    ("pairs", "rows"),
    ("other_work_share", "other_processes_share"),
    ("hostname", "host"),
];

/// The names of members that held both ends of an interval in schema 1, each with the name of the value.
const INTERVALS: [(&str, &str); 2] = [("ci95_ns", "ns"), ("ci95_bytes_per_second", "bytes_per_second")];

/// Returns the name of a member or a column in the schema of today.
pub fn today(name: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// Returns whether a member holds both ends of the interval of a value, as in schema 1.
pub fn is_interval_of(name: &str, value: &str) -> bool {
    INTERVALS.contains(&(name, value))
}
