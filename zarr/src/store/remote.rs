//! A store that has a URL: `s3://bucket/path` or `http://host/path`, by `object_store`.
//!
//! S3 takes its settings from the environment (`AWS_ACCESS_KEY_ID`, `AWS_REGION`,
//! `AWS_ENDPOINT_URL` and others). Requests that fail are repeated, by default for three minutes.

use super::{Listing, Store, join};
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, RetryConfig};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

/// How long requests are repeated, in seconds, if `RETROGRADE_RETRY_SECONDS` does not say.
const PATIENCE: u64 = 180;

/// A store behind a URL.
pub struct Remote {
    url: String,
    prefix: String,
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
    lists: bool,
}

impl Remote {
    /// The store at a URL, and a path inside it.
    pub fn open(url: &str, inside: &str) -> io::Result<Remote> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let seconds = std::env::var("RETROGRADE_RETRY_SECONDS").ok().and_then(|s| s.parse().ok());
        let retry = RetryConfig {
            retry_timeout: Duration::from_secs(seconds.unwrap_or(PATIENCE)),
            max_retries: 100,
            ..RetryConfig::default()
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let options = ClientOptions::new().with_allow_http(true);
        let (store, lists): (Arc<dyn ObjectStore>, bool) = match scheme {
            "s3" => {
                let endpoint = std::env::var("AWS_ENDPOINT_URL").ok();
                let mut builder = AmazonS3Builder::from_env().with_bucket_name(host);
                if let Some(endpoint) = endpoint {
                    builder = builder.with_endpoint(endpoint);
                }
                let builder = builder.with_retry(retry).with_client_options(options);
                (Arc::new(builder.build().map_err(io::Error::other)?), true)
            }
            "http" | "https" => {
                let builder = HttpBuilder::new().with_url(format!("{scheme}://{host}"));
                let builder = builder.with_retry(retry).with_client_options(options);
                (Arc::new(builder.build().map_err(io::Error::other)?), false)
            }
            scheme => {
                let why = format!("the scheme is {scheme:?}, expected s3, http or https");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
        };
        // Workers wait for their own requests; one thread moves the bytes of all.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let prefix = join(path.trim_matches('/'), inside);
        let url = format!("{scheme}://{host}/{prefix}");
        Ok(Remote { url, prefix, store, runtime, lists })
    }

    fn at(&self, key: &str) -> io::Result<Path> {
        Path::parse(join(&self.prefix, key)).map_err(io::Error::other)
    }

    /// Removes a key, which may be absent.
    pub(crate) fn remove(&self, key: &str) -> io::Result<()> {
        let path = self.at(key)?;
        absent(self.runtime.block_on(self.store.delete(&path))).map(|_| ())
    }
}

/// An absent object is no error.
fn absent<T>(result: object_store::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

impl Store for Remote {
    fn name(&self, key: &str) -> String {
        if key.is_empty() { self.url.clone() } else { format!("{}/{key}", self.url) }
    }

    fn read(
        &self,
        key: &str,
        range: Option<Range<u64>>,
        into: &mut Vec<u8>,
    ) -> io::Result<Option<u64>> {
        let path = self.at(key)?;
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        self.runtime.block_on(async {
            let Some(found) = absent(self.store.get_opts(&path, options).await)? else {
                return Ok(None);
            };
            let size = found.meta.size;
            // Follows a connection that breaks by asking for the rest.
            let bytes = found.bytes().await.map_err(io::Error::other)?;
            into.clear();
            into.extend_from_slice(&bytes);
            Ok(Some(size))
        })
    }

    fn stat(&self, key: &str) -> io::Result<Option<(u64, Option<SystemTime>)>> {
        let path = self.at(key)?;
        let found = absent(self.runtime.block_on(self.store.head(&path)))?;
        Ok(found.map(|found| (found.size, Some(found.last_modified.into()))))
    }

    fn write(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.at(key)?;
        let written = self.runtime.block_on(self.store.put(&path, bytes.to_vec().into()));
        written.map(|_| ()).map_err(io::Error::other)
    }

    fn list(&self, folder: &str) -> io::Result<Listing> {
        if !self.lists {
            let why = "a server cannot be asked what a group holds; name an array: URL.zarr:PATH";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let path = self.at(folder)?;
        let found = self.runtime.block_on(self.store.list_with_delimiter(Some(&path)));
        let found = found.map_err(io::Error::other)?;
        let name = |path: &Path| path.filename().unwrap_or_default().to_owned();
        Ok(Listing {
            files: found.objects.iter().map(|object| name(&object.location)).collect(),
            folders: found.common_prefixes.iter().map(name).collect(),
        })
    }
}
