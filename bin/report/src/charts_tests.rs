//! Charts and matrices for the tests, with realistic values.

use crate::chart::{MarkKind, MatrixGroup};
use crate::{Axis, Chart, ChartPoint, Data, Mark, Matrix, Scale, Series, Unit};
use std::vec::Vec;
use std::{env, fs, path::Path, println};

/// Compares a text with the stored one; with `UPDATE_GOLDEN` set, stores it.
pub fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden").join(name);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    if stored != text {
        println!("{text}");
        panic!("{} differs; UPDATE_GOLDEN=1 stores the new one", path.display());
    }
}

const WORKING_SET: Axis = Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic };
const LATENCY: Axis = Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto };

/// Returns the latency of a working set. Each level has an added latency, a capacity in KiB and the sharpness of its
/// knee.
fn latency(size: f64, pages: f64) -> f64 {
    let levels =
        [(3.4, 48.0, 24.0), (13.0, 2300.0, 5.0), (84.0 * pages, 22_000.0, 4.0), (30.0 * pages, 9e5, 1.6)];
    let steps = levels.iter().map(|&(step, knee, shape)| {
        let ratio = (size / 1024.0 / knee).powf(shape);
        step * ratio / (1.0 + ratio)
    });
    1.58 + steps.sum::<f64>()
}

/// Shows a curve with two page sizes, a model and marks.
pub fn curve(show: impl FnOnce(&Chart)) {
    let sizes: Vec<f64> = (0..69).map(|step| 16384.0 * 2f64.powf(f64::from(step) / 4.0)).collect();
    let noise = |index: usize| 1.0 + 0.02 * ((index * 37 % 11) as f64 / 5.0 - 1.0);
    let point = |(index, &size): (usize, &f64), pages: f64| {
        let y = latency(size, pages) * noise(index);
        let half = if size > 4e6 { 0.08 } else { 0.015 };
        ChartPoint::with_band(size, y, y * (1.0 - half), y * (1.0 + half))
    };
    let huge: Vec<ChartPoint> = sizes.iter().enumerate().map(|size| point(size, 1.0)).collect();
    let small: Vec<ChartPoint> = sizes.iter().enumerate().map(|size| point(size, 1.35)).collect();
    let model = sizes.iter().map(|&size| ChartPoint::new(size, latency(size, 1.0))).collect();
    chart_of_curve(
        [
            Series { name: "2 MiB pages".into(), data: Data::Points(huge) },
            Series { name: "4 KiB pages".into(), data: Data::Points(small) },
            Series { name: "model of 2 MiB".into(), data: Data::Curve(model) },
        ]
        .into(),
        show,
    );
}

/// Shows a chart without series.
pub fn without_series(show: impl FnOnce(&Chart)) {
    chart_of_curve(Vec::new(), show);
}

fn chart_of_curve(series: Vec<Series>, show: impl FnOnce(&Chart)) {
    let kibibytes = |size: f64| size * 1024.0;
    show(&Chart {
        title: "Latency against working set".into(),
        subtitle: "node 0 -> node 0, CPU 4, random order, stride 64 B, 15 trials, seed 42".into(),
        x_axis: WORKING_SET,
        y_axis: LATENCY,
        series,
        marks: [
            Mark::line(kibibytes(48.0), format_args!("L1 48 KiB 1.58 ns")),
            Mark::line(kibibytes(2048.0), format_args!("L2 2 MiB 5.01 ns")),
            Mark::line(kibibytes(22_000.0), format_args!("L3 21.5 MiB 18 ns")),
        ]
        .into(),
    });
}

/// Shows inverse throughput against lanes, with a tick at each power of two.
pub fn lanes(show: impl FnOnce(&Chart)) {
    let measured = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 32.0, 64.0]
        .map(|lanes: f64| ChartPoint::new(lanes, (118.0 / lanes).max(8.4 + lanes / 100.0)));
    show(&Chart {
        title: "Inverse throughput against lanes".into(),
        subtitle: "".into(),
        x_axis: Axis { title: "lanes", unit: Unit::Count, scale: Scale::Logarithmic },
        y_axis: Axis { title: "inverse throughput", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series: [Series { name: "".into(), data: Data::Points(measured.into()) }].into(),
        marks: [Mark::line(12.0, format_args!("12 fill buffers"))].into(),
    });
}

/// Shows two sockets with two nodes each and a memory-only node; the placement of one pair is not verified.
pub fn matrix(show: impl FnOnce(&Matrix)) {
    let cell = |row: u32, column: u32| match (row, column) {
        (3, 0) => Err("placement not verified: 12 of 65536 pages on node 1"),
        (_, 8) if row > 1 => Err("not measurable here: mbind EPERM"),
        (_, 8) => Ok(262.4),
        (row, column) if row == column => Ok(92.6 + f64::from(row)),
        (row, column) if row / 2 == column / 2 => Ok(118.2),
        (row, column) => Ok(171.0 + f64::from(row * 2 + column)),
    };
    let matrix = Matrix {
        title: "Idle latency of node pairs".into(),
        subtitle: "2 MiB pages, random order, 1 GiB, seed 42".into(),
        unit: "ns",
        noun: "node",
        rows: [0, 1, 2, 3].into(),
        columns: [0, 1, 2, 3, 8].into(),
        groups: None,
        cells: Vec::new(),
    };
    show(&matrix.filled(&cell));
}

/// Shows pairs of six CPUs of two sockets by what they share: a mark for each pair.
pub fn strip(show: impl FnOnce(&Chart)) {
    let near = [24.1, 24.9, 25.6].map(|ns| ChartPoint::new(ns, 0.0));
    let far = [128.0, 131.0, 133.5, 140.0, 151.0].map(|ns| ChartPoint::new(ns, 1.0));
    show(&Chart {
        title: "Core to core: 24.1 to 151 ns one way".into(),
        subtitle: "each mark is a pair of CPUs".into(),
        x_axis: Axis { title: "one way", unit: Unit::Plain("ns"), scale: Scale::Fitted },
        y_axis: Axis {
            title: "",
            unit: Unit::Names(["same L3", "other socket"].map(Into::into).into()),
            scale: Scale::Linear,
        },
        series: [near.into(), far.into()]
            .map(|points: Vec<ChartPoint>| Series { name: "".into(), data: Data::Scatter(points) })
            .into(),
        marks: [
            Mark { series: Some(0), ..Mark::line(24.9, format_args!("median 24.9 ns")) },
            Mark { kind: MarkKind::Tick, ..Mark::line(100.0, format_args!("100 ns reported")) },
            Mark { series: Some(1), ..Mark::line(133.5, format_args!("median 134 ns")) },
        ]
        .into(),
    });
}

/// Shows pairs of six CPUs of two sockets.
pub fn triangle(show: impl FnOnce(&Matrix)) {
    let cell = |row: u32, column: u32| match (row, column) {
        (4, 1) => Err("not measured"),
        (row, column) if row % 2 == column % 2 => Ok(24.0 + f64::from(row + column) / 10.0),
        (row, column) => Ok(128.0 + f64::from(row + column)),
    };
    let matrix = Matrix {
        title: "Core to core: 24.2 to 137 ns one way".into(),
        subtitle: "compare and swap of one line".into(),
        unit: "ns",
        noun: "CPU",
        rows: [0, 2, 4, 1, 3].into(),
        columns: [2, 4, 1, 3, 5].into(),
        groups: Some(
            [
                MatrixGroup { first: 0, name: "socket 0".into() },
                MatrixGroup { first: 3, name: "socket 1".into() },
            ]
            .into(),
        ),
        cells: Vec::new(),
    };
    show(&matrix.filled(&cell));
}

/// Returns the matrix of the first nodes with a cell for each pair.
pub fn of_nodes(count: u32, cell: &dyn Fn(u32, u32) -> Result<f64, &'static str>) -> Matrix {
    let nodes = || (0..count).collect();
    let matrix = Matrix {
        title: "".into(),
        subtitle: "".into(),
        unit: "ns",
        noun: "node",
        rows: nodes(),
        columns: nodes(),
        groups: None,
        cells: Vec::new(),
    };
    matrix.filled(cell)
}
