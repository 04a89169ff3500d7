//! (module cpulist)
