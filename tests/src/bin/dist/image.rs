//! A container image with only the executable, for each target, as an OCI layout: it is loaded from the file, not pulled
//! from a registry.
//!
//! # References
//! OCI image specification 1.0: image-layout.md, image-index.md, manifest.md, config.md.

use serde_json::{Value, json};

use crate::release;
use crate::tar::Tar;
use crate::target::{Executable, Target};
use crate::tools::sha256;

/// The user nobody: no file of the image belongs to it.
const USER: &str = "65534:65534";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Returns the images of these executables under one name, as an archive.
///
/// # Errors
///
/// If an image cannot be packed.
pub fn of(executables: &[Executable]) -> Result<Vec<u8>, String> {
    let mut blobs = Vec::new();
    let mut manifests = Vec::new();
    for (target, executable) in executables {
        let [layer, config, manifest] = parts(target, executable)?;
        let mut named = manifest.descriptor();
        named["platform"] = platform(target);
        manifests.push(named);
        blobs.extend([layer, config, manifest]);
    }
    let targets = Blob::new(INDEX, index(&manifests));
    let mut named = targets.descriptor();
    named["annotations"] = json!({ "org.opencontainers.image.ref.name": release::VERSION });
    let mut image = Tar::new(release::seconds());
    for blob in blobs.iter().chain([&targets]) {
        image.file(&format!("blobs/sha256/{}", blob.sum), 0o644, &blob.content)?;
    }
    image.file("index.json", 0o644, &index(&[named]))?;
    image.file("oci-layout", 0o644, json!({ "imageLayoutVersion": "1.0.0" }).to_string().as_bytes())?;
    Ok(image.finish())
}

fn index(manifests: &[Value]) -> Vec<u8> {
    json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests }).to_string().into()
}

/// Returns layer, configuration and manifest of the image for one target.
fn parts(target: &Target, executable: &[u8]) -> Result<[Blob; 3], String> {
    let mut layer = Tar::new(release::seconds());
    layer.file("latency-bench", 0o755, executable)?;
    let layer = Blob::new("application/vnd.oci.image.layer.v1.tar", layer.finish());
    let mut config = platform(target);
    config["created"] = release::timestamp().into();
    config["config"] = json!({
        "User": USER,
        "Entrypoint": ["/latency-bench"],
        "WorkingDir": "/",
        "Labels": {
            "org.opencontainers.image.title": "latency-bench",
            "org.opencontainers.image.description": release::description(),
            "org.opencontainers.image.version": release::VERSION,
            "org.opencontainers.image.licenses": release::LICENCE,
        },
    });
    config["rootfs"] = json!({ "type": "layers", "diff_ids": [layer.digest()] });
    let config = Blob::new("application/vnd.oci.image.config.v1+json", config.to_string().into());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::new(MANIFEST, manifest.to_string().into());
    Ok([layer, config, manifest])
}

/// Returns the platform of a target, of the same form in an index and in a configuration.
fn platform(target: &Target) -> Value {
    let mut platform = json!({ "architecture": target.architecture, "os": "linux" });
    if let Some(variant) = target.variant {
        platform["variant"] = variant.into();
    }
    platform
}

/// A part of an image, named by its content hash.
struct Blob {
    media_type: &'static str,
    sum: String,
    content: Vec<u8>,
}

impl Blob {
    fn new(media_type: &'static str, content: Vec<u8>) -> Blob {
        Blob { media_type, sum: sha256(&content), content }
    }

    fn digest(&self) -> String {
        format!("sha256:{}", self.sum)
    }

    fn descriptor(&self) -> Value {
        json!({ "mediaType": self.media_type, "digest": self.digest(), "size": self.content.len() })
    }
}
