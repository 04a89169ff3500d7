//! The container image: checked against its specification, read by skopeo, and run in a root with no other
//! file.

use super::packed;
use latency_tests::confine::{Confine, is_root};
use latency_tests::directory::Directory;
use latency_tests::packages::Tree;
use latency_tests::program::binary;
use latency_tests::skip::skip;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Maximum number of bytes that an image adds to the executable: headers and its configuration.
const LEAST: u64 = 4096;

/// Unpacks the layout of the image.
fn layout(directory: &Path) -> PathBuf {
    let packed = packed(&directory.file_name().expect("a name").to_string_lossy(), "UTC");
    untar(&packed.file(".oci.tar"), &directory.join("layout"))
}

fn untar(archive: &Path, directory: &Path) -> PathBuf {
    fs::create_dir_all(directory).expect("a directory");
    let status = Command::new("tar").arg("-C").arg(directory).arg("-xf").arg(archive).status();
    assert!(status.expect("tar").success());
    directory.to_path_buf()
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the blob of a descriptor, after checking it against the descriptor.
fn blob(layout: &Path, descriptor: &Value) -> PathBuf {
    let sum =
        descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).expect("a digest");
    let path = layout.join("blobs/sha256").join(sum);
    assert_eq!(fs::metadata(&path).expect("a blob").len(), descriptor["size"].as_u64().expect("a size"));
    let output = Command::new("sha256sum").arg(&path).output().expect("sha256sum");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with(sum), "{descriptor}");
    path
}

/// Returns the blobs of manifest, configuration and layer.
fn blobs(layout: &Path) -> [PathBuf; 3] {
    let index = read(&layout.join("index.json"));
    let manifest = blob(layout, &index["manifests"][0]);
    let parts = read(&manifest);
    assert_eq!(parts["layers"].as_array().map(Vec::len), Some(1));
    [blob(layout, &parts["config"]), blob(layout, &parts["layers"][0]), manifest]
}

#[test]
fn the_image_contains_little_but_the_executable() {
    let directory = Directory::new("image-layout");
    let layout = layout(directory.path());
    assert_eq!(read(&layout.join("oci-layout"))["imageLayoutVersion"], "1.0.0");
    let [config, layer, manifest] = blobs(&layout);
    let size = |path: &Path| fs::metadata(path).expect("a file").len();
    let beside = size(&config) + size(&layer) + size(&manifest) - size(&binary());
    assert!(beside < LEAST, "{beside} bytes beside the executable");
    let config = read(&config);
    assert_eq!(config["config"]["User"], "65534:65534");
    assert_eq!(config["config"]["Entrypoint"], serde_json::json!(["/latency-bench"]));
    assert_eq!(config["config"]["Labels"]["org.opencontainers.image.version"], env!("CARGO_PKG_VERSION"));
    let sum = layer.file_name().expect("a name").to_string_lossy().into_owned();
    // An uncompressed layer is identified by the same checksum.
    assert_eq!(config["rootfs"]["diff_ids"], serde_json::json!([format!("sha256:{sum}")]));
}

#[test]
fn skopeo_reads_the_image() {
    let packages = ["skopeo", "libgpgme11", "libdevmapper1.02.1", "libassuan0"];
    let skopeo = match Tree::with("skopeo", &packages) {
        Ok(tree) => tree,
        Err(reason) => return skip("skopeo_reads_the_image", &reason),
    };
    let directory = Directory::new("image-skopeo");
    let packed = packed("image-skopeo", "UTC");
    let image = format!("oci-archive:{}", packed.file(".oci.tar").display());
    let run = |arguments: &[&str]| {
        let mut command = skopeo.command("skopeo");
        let output =
            command.args(["--insecure-policy", "--tmpdir"]).arg(directory.path()).args(arguments).output();
        let output = output.expect("skopeo");
        assert!(output.status.success(), "skopeo: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let seen: Value = serde_json::from_str(&run(&["inspect", &image])).expect("JSON");
    assert_eq!((&seen["Architecture"], &seen["Os"]), (&"amd64".into(), &"linux".into()));
    assert_eq!(seen["Labels"]["org.opencontainers.image.title"], "latency-bench");
    // Convert the image into Docker's form; skopeo recomputes all of its checksums.
    let copy = format!("docker-archive:{}:latency-bench:test", directory.path().join("docker.tar").display());
    run(&["copy", "--quiet", &image, &copy]);
}

#[test]
fn the_image_runs_in_a_root_without_anything_else() {
    let test = "the_image_runs_in_a_root_without_anything_else";
    if !is_root() {
        return skip(test, "only root changes its root directory");
    }
    let directory = Directory::new("image-root");
    let [_, layer, _] = blobs(&layout(directory.path()));
    let root = untar(&layer, &directory.path().join("root"));
    let names: Vec<_> =
        fs::read_dir(&root).expect("the root").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, ["latency-bench"]);
    let arguments = ["--quiet", "--size=4M", "--trials=3", "--iters=2000"];
    let mut command = Command::new("/latency-bench");
    command.args(arguments).rooted(&root).as_nobody();
    let told = command.stdin(Stdio::null()).output().expect("the executable");
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.status.success() && text.contains(" ns"), "{text}{}", String::from_utf8_lossy(&told.stderr));
    // As the first process of a namespace, like in a container.
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--setuid=65534", "--wd=/"]).arg(format!("--root={}", root.display()));
    let told = unshare.arg("/latency-bench").args(arguments).output().expect("unshare");
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.status.success() && text.contains(" ns"), "{text}{}", String::from_utf8_lossy(&told.stderr));
}
