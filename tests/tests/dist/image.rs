//! The container image: checked against its specification, read by skopeo, and run in a root with no other
//! file.
//!
//! # References
//! OCI image specification 1.0: image-layout.md, image-index.md, manifest.md, config.md.

use super::{MACHINES, shared};
use latency_tests::confine::{Confine, is_root};
use latency_tests::directory::Directory;
use latency_tests::packages::Tree;
use latency_tests::skip::skip;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Maximum number of bytes that the image of one platform adds to its executable: headers and its configuration.
const LEAST: u64 = 4096;

/// The platform of each instruction set: architecture, and variant if there is one.
const PLATFORMS: [(&str, Option<&str>); 2] = [("amd64", None), ("arm64", Some("v8"))];

/// Unpacks the layout of the image.
fn layout(directory: &Directory) -> PathBuf {
    untar(&shared().image(), &directory.path().join("layout"))
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

/// Returns the descriptors of the manifests, one for each platform. The layout has one name, whose index lists them: a
/// tool that loads the image by that name chooses a platform.
fn manifests(layout: &Path) -> Vec<Value> {
    let of = |index: &Value| {
        assert_eq!((&index["schemaVersion"], &index["mediaType"]), (&json!(2), &json!(INDEX)));
        index["manifests"].as_array().expect("a list").clone()
    };
    const INDEX: &str = "application/vnd.oci.image.index.v1+json";
    let named = of(&read(&layout.join("index.json")));
    assert_eq!((named.len(), &named[0]["mediaType"]), (1, &json!(INDEX)));
    let name = &named[0]["annotations"]["org.opencontainers.image.ref.name"];
    assert_eq!(name, env!("CARGO_PKG_VERSION"));
    of(&read(&blob(layout, &named[0])))
}

/// Returns the blobs of manifest, configuration and layer of a manifest's descriptor.
fn blobs(layout: &Path, descriptor: &Value) -> [PathBuf; 3] {
    const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    assert_eq!(descriptor["mediaType"], MANIFEST);
    let manifest = blob(layout, descriptor);
    let parts = read(&manifest);
    assert_eq!((&parts["schemaVersion"], &parts["mediaType"]), (&json!(2), &json!(MANIFEST)));
    assert_eq!(parts["config"]["mediaType"], "application/vnd.oci.image.config.v1+json");
    assert_eq!(parts["layers"].as_array().map(Vec::len), Some(1));
    assert_eq!(parts["layers"][0]["mediaType"], "application/vnd.oci.image.layer.v1.tar");
    [manifest, blob(layout, &parts["config"]), blob(layout, &parts["layers"][0])]
}

#[test]
fn the_image_of_each_platform_contains_little_but_its_executable() {
    let directory = Directory::new("image-layout");
    let layout = layout(&directory);
    assert_eq!(read(&layout.join("oci-layout"))["imageLayoutVersion"], "1.0.0");
    let manifests = manifests(&layout);
    assert_eq!(manifests.len(), MACHINES.len());
    // The index of both platforms.
    let mut known = 1;
    for ((descriptor, machine), (architecture, variant)) in manifests.iter().zip(MACHINES).zip(PLATFORMS) {
        let mut platform = json!({ "architecture": architecture, "os": "linux" });
        if let Some(variant) = variant {
            platform["variant"] = variant.into();
        }
        assert_eq!(descriptor["platform"], platform);
        let paths = blobs(&layout, descriptor);
        known += paths.len();
        let executable = fs::read(shared().executable(machine)).expect("the executable");
        let size: u64 = paths.iter().map(|path| fs::metadata(path).expect("a file").len()).sum();
        let beside = size - executable.len() as u64;
        assert!(beside < LEAST, "{beside} bytes beside the executable");
        let [_, config, layer] = paths;
        let root = untar(&layer, &directory.path().join(machine));
        assert!(fs::read(root.join("latency-bench")).expect("the executable") == executable, "{machine}");
        let config = read(&config);
        for (key, value) in platform.as_object().expect("an object") {
            assert_eq!(&config[key], value, "{machine}");
        }
        assert_eq!(config["config"]["User"], "65534:65534");
        assert_eq!(config["config"]["Entrypoint"], json!(["/latency-bench"]));
        let labels = &config["config"]["Labels"];
        assert_eq!(labels["org.opencontainers.image.version"], env!("CARGO_PKG_VERSION"));
        let sum = layer.file_name().expect("a name").to_string_lossy().into_owned();
        // An uncompressed layer is identified by the same checksum.
        assert_eq!(config["rootfs"], json!({ "type": "layers", "diff_ids": [format!("sha256:{sum}")] }));
    }
    let stored = fs::read_dir(layout.join("blobs/sha256")).expect("the blobs").count();
    assert_eq!(stored, known, "the layout has other blobs");
}

#[test]
fn skopeo_reads_the_image() {
    let packages = ["skopeo", "libgpgme11", "libdevmapper1.02.1", "libassuan0"];
    let skopeo = match Tree::with("skopeo", &packages) {
        Ok(tree) => tree,
        Err(reason) => return skip("skopeo_reads_the_image", &reason),
    };
    let directory = Directory::new("image-skopeo");
    let image = format!("oci-archive:{}", shared().image().display());
    let run = |arguments: &[&str]| {
        let mut command = skopeo.command("skopeo");
        let output =
            command.args(["--insecure-policy", "--tmpdir"]).arg(directory.path()).args(arguments).output();
        let output = output.expect("skopeo");
        assert!(output.status.success(), "skopeo: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut layers = BTreeSet::new();
    for (architecture, _) in PLATFORMS {
        let chosen = format!("--override-arch={architecture}");
        let seen: Value = serde_json::from_str(&run(&[&chosen, "inspect", &image])).expect("JSON");
        assert_eq!((&seen["Architecture"], &seen["Os"]), (&architecture.into(), &"linux".into()));
        assert_eq!(seen["Labels"]["org.opencontainers.image.title"], "latency-bench");
        layers.insert(seen["Layers"][0].to_string());
        // Convert the image into Docker's form; skopeo recomputes all of its checksums.
        let copy = directory.path().join(format!("{architecture}.tar"));
        run(&[
            &chosen,
            "copy",
            "--quiet",
            &image,
            &format!("docker-archive:{}:latency-bench:test", copy.display()),
        ]);
    }
    assert_eq!(layers.len(), PLATFORMS.len(), "one executable for two platforms");
    // All platforms at once, as for a registry.
    let copy = directory.path().join("all");
    run(&["copy", "--quiet", "--all", &image, &format!("oci:{}:test", copy.display())]);
    let copied = fs::read_dir(copy.join("blobs/sha256")).expect("the blobs").count();
    assert_eq!(copied, 1 + 3 * PLATFORMS.len());
}

#[test]
fn the_image_runs_in_a_root_without_anything_else() {
    let test = "the_image_runs_in_a_root_without_anything_else";
    if !is_root() {
        return skip(test, "only root changes its root directory");
    }
    let directory = Directory::new("image-root");
    let layout = layout(&directory);
    let [_, _, layer] = blobs(&layout, &manifests(&layout)[0]);
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
