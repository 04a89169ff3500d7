//! A container image with only the executable, as an OCI layout: it is loaded from the file, not pulled from
//! a registry.
//!
//! # References
//! OCI image specification 1.0: image-layout.md, manifest.md, config.md.

use serde_json::{Value, json};

use crate::release;
use crate::tar::Tar;
use crate::tools::sha256;

/// The user nobody: no file of the image belongs to it.
const USER: &str = "65534:65534";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Returns the image of an executable, as an archive.
///
/// # Errors
///
/// If the image cannot be hashed or packed.
pub fn of(executable: &[u8]) -> Result<Vec<u8>, String> {
    let mut layer = Tar::new(release::seconds());
    layer.file("latency-bench", 0o755, executable)?;
    let layer = Blob::new("application/vnd.oci.image.layer.v1.tar", layer.finish());
    let config = json!({
        "architecture": "amd64",
        "os": "linux",
        "created": release::timestamp(),
        "config": {
            "User": USER,
            "Entrypoint": ["/latency-bench"],
            "WorkingDir": "/",
            "Labels": {
                "org.opencontainers.image.title": "latency-bench",
                "org.opencontainers.image.description": release::description(),
                "org.opencontainers.image.version": release::VERSION,
                "org.opencontainers.image.licenses": release::LICENCE,
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [layer.digest()] },
    });
    let config = Blob::new("application/vnd.oci.image.config.v1+json", config.to_string().into());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::new(MANIFEST, manifest.to_string().into());
    let mut named = manifest.descriptor();
    named["platform"] = json!({ "architecture": "amd64", "os": "linux" });
    named["annotations"] = json!({ "org.opencontainers.image.ref.name": release::VERSION });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [named],
    });
    let mut image = Tar::new(release::seconds());
    for blob in [&layer, &config, &manifest] {
        image.file(&format!("blobs/sha256/{}", blob.sum), 0o644, &blob.content)?;
    }
    image.file("index.json", 0o644, index.to_string().as_bytes())?;
    image.file("oci-layout", 0o644, json!({ "imageLayoutVersion": "1.0.0" }).to_string().as_bytes())?;
    Ok(image.finish())
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
