//! A store that has a URL, by `object_store`: `s3://bucket/path`, or `http://host/path`, which is only
//! read.
//!
//! Settings of S3 come from the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
//! `AWS_REGION`, `AWS_ENDPOINT_URL` and the others that `object_store` knows. Requests that fail with
//! a server error, a timeout or a lost connection are repeated, with growing pauses.

use super::{Extent, Found, Listing, Store, check_key, join};
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    ClientConfigKey, ClientOptions, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore,
    ObjectStoreExt, RetryConfig,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How often a request is sent, if `AWS_MAX_ATTEMPTS` does not say.
const ATTEMPTS: usize = 10;
/// How often a request that lists objects is sent, apart from the repetitions above.
const LISTS: usize = 5;
/// No request begins anew after this time: credentials must stay valid meanwhile.
const PATIENCE: Duration = Duration::from_secs(180);
/// The most time for one request, so that large chunks have time and lost connections are noticed.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A store behind a URL.
#[derive(Debug, Clone)]
pub struct Remote {
    /// The scheme and the bucket or host.
    base: String,
    prefix: String,
    store: Arc<dyn ObjectStore>,
    runtime: Arc<Runtime>,
    attempts: usize,
    /// Whether the server can be asked for names, and written to: S3 can, HTTP cannot.
    full: bool,
}

/// Why reading an object failed.
enum Failure {
    /// The request, after its retries.
    Request(object_store::Error),
    /// The connection broke in the middle of the bytes.
    Body(object_store::Error),
    /// The object is not what was asked for.
    Refused(io::Error),
}

impl Remote {
    /// The store at a URL, and a path inside it. Nothing is asked of the server yet.
    pub fn open(url: &str, inside: &str) -> io::Result<Remote> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        let attempts = std::env::var("AWS_MAX_ATTEMPTS").ok();
        let attempts = match attempts.as_deref().map(str::parse::<usize>) {
            None => ATTEMPTS,
            Some(Ok(count)) if count > 0 => count,
            Some(_) => {
                let why = "AWS_MAX_ATTEMPTS is not a number of at least 1".to_owned();
                return Err(invalid(why));
            }
        };
        // TLS by `ring`, which compiles in a fraction of the time of the default. It may be installed
        // already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig {
            max_retries: attempts - 1,
            retry_timeout: PATIENCE,
            ..RetryConfig::default()
        };
        let (store, path, full): (Arc<dyn ObjectStore>, _, bool) = match scheme {
            "s3" => (Arc::new(s3(host, retry)?), Path::parse(path), true),
            "http" | "https" => {
                let options = ClientOptions::new().with_allow_http(true).with_timeout(TIMEOUT);
                let builder = HttpBuilder::new().with_url(format!("{scheme}://{host}"));
                let builder = builder.with_retry(retry).with_client_options(options);
                let store = builder.build().map_err(failed)?;
                (Arc::new(store), Path::from_url_path(path), false)
            }
            scheme => {
                return Err(invalid(format!(
                    "the scheme is {scheme:?}, expected s3, http or https"
                )));
            }
        };
        let path = path.map_err(|error| invalid(error.to_string()))?;
        // Workers wait for their own requests; one thread serves the connections of all.
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (base, prefix) = (format!("{scheme}://{host}"), join(path.as_ref(), inside));
        Ok(Remote { base, prefix, store, runtime: Arc::new(runtime), attempts, full })
    }

    /// The folder around the store and the name of the store in it; no name for a whole bucket.
    pub(crate) fn split(&self) -> (Remote, &str) {
        let (parent, name) = self.prefix.rsplit_once('/').unwrap_or(("", &self.prefix));
        (Remote { prefix: parent.to_owned(), ..self.clone() }, name)
    }

    /// Whether one store is the other, or inside it.
    pub(crate) fn overlaps(&self, other: &Remote) -> bool {
        let within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with('/'))
        };
        let (one, two) = (&self.prefix, &other.prefix);
        self.base == other.base && (within(one, two) || within(two, one))
    }

    /// Whether it can be written.
    pub(crate) fn is_writable(&self) -> bool {
        self.full
    }

    fn object(&self, key: &str) -> io::Result<Path> {
        Path::parse(join(&self.prefix, key)).map_err(io::Error::other)
    }

    /// Waits for the answer of a request that lists objects. `object_store` does not repeat it if the
    /// connection breaks in the middle of the answer.
    fn listed<T, F>(&self, ask: impl Fn() -> F) -> io::Result<T>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        let mut attempt = 1;
        loop {
            match self.runtime.block_on(ask()) {
                Ok(found) => return Ok(found),
                Err(error) if attempt >= self.attempts.min(LISTS) => {
                    return Err(failed(error));
                }
                Err(_) => pause(&mut attempt),
            }
        }
    }

    /// Whether any object is in the store.
    pub(crate) fn has_objects(&self) -> io::Result<bool> {
        let prefix = self.object("")?;
        let first = || async { self.store.list(Some(&prefix)).next().await.transpose() };
        self.listed(first).map(|found| found.is_some())
    }

    /// Removes all objects of the store.
    pub(crate) fn remove_all(&self) -> io::Result<()> {
        let prefix = self.object("")?;
        self.listed(|| {
            let found = self.store.list(Some(&prefix)).map_ok(|found| found.location).boxed();
            self.store.delete_stream(found).try_for_each(|_| async { Ok(()) })
        })
    }

    /// A folder of it as a store of its own.
    pub(crate) fn inside(&self, folder: &str) -> Remote {
        Remote { prefix: join(&self.prefix, folder), ..self.clone() }
    }

    /// Reads an object into memory that is reused.
    async fn get(
        &self,
        path: &Path,
        extent: &Extent,
        into: &mut Vec<u8>,
    ) -> Result<Found, Failure> {
        into.clear();
        let Extent::Range(range) = extent else {
            let answer = self.store.get(path).await.map_err(Failure::Request)?;
            return collect(answer, extent, into).await;
        };
        let wanted = Some(GetRange::Bounded(range.clone()));
        let options = GetOptions { range: wanted, ..GetOptions::default() };
        match self.store.get_opts(path, options).await {
            Ok(answer) => collect(answer, extent, into).await,
            // Some servers always send everything.
            Err(object_store::Error::NotSupported { .. }) => {
                let answer = self.store.get(path).await.map_err(Failure::Request)?;
                collect(answer, extent, into).await
            }
            // A range behind the end of the object is an error of the server, but not here.
            Err(error) => match self.store.head(path).await {
                Ok(meta) if meta.size <= range.start => Ok(found(&meta)),
                _ => Err(Failure::Request(error)),
            },
        }
    }
}

/// A bucket, with the settings of the environment.
fn s3(bucket: &str, retry: RetryConfig) -> io::Result<object_store::aws::AmazonS3> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = names.into_iter().find_map(set);
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        builder = builder.with_allow_http(true);
    }
    if set("AWS_TIMEOUT").is_none() {
        let key = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
        builder = builder.with_config(key, format!("{}s", TIMEOUT.as_secs()));
    }
    builder.build().map_err(failed)
}

/// Takes the wanted bytes of an answer as they come, without a second copy. A server may send others
/// too, or more than it said: these are not kept.
async fn collect(answer: GetResult, extent: &Extent, into: &mut Vec<u8>) -> Result<Found, Failure> {
    let found = found(&answer.meta);
    let wanted = extent.of(found.size).map_err(Failure::Refused)?;
    let expected = usize::try_from(wanted.end - wanted.start).unwrap_or(usize::MAX);
    let room = into.try_reserve_exact(expected);
    room.map_err(|error| Failure::Refused(io::Error::other(error)))?;
    let mut at = answer.range.start;
    let mut parts = answer.into_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(Failure::Body)?;
        let end = at + part.len() as u64;
        let inside = |place: u64| (place.clamp(at, end) - at) as usize;
        into.extend_from_slice(&part[inside(wanted.start)..inside(wanted.end)]);
        at = end;
        if at >= wanted.end {
            break;
        }
    }
    Ok(found)
}

/// What differs if an object was replaced: its ETag, its version, or when that was.
fn found(meta: &ObjectMeta) -> Found {
    let ObjectMeta { size, e_tag, version, last_modified, .. } = meta;
    let version = match (e_tag, version) {
        (None, None) => format!("{size} {last_modified}"),
        (tag, version) => format!("{size} {tag:?} {version:?}"),
    };
    Found { size: *size, version }
}

/// Waits before the next attempt, each time for longer.
fn pause(attempt: &mut usize) {
    std::thread::sleep(Duration::from_millis(100) * *attempt as u32);
    *attempt += 1;
}

/// The error with its causes: the library's own words end before, say, a certificate is named.
fn failed(error: object_store::Error) -> io::Error {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(found) = cause {
        let why = found.to_string();
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        cause = found.source();
    }
    io::Error::other(text)
}

/// An absent object is no error.
fn absent<T>(result: object_store::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

impl Store for Remote {
    fn name(&self, key: &str) -> String {
        format!("{}/{}", self.base, join(&self.prefix, key))
    }

    fn read(&self, key: &str, extent: Extent, into: &mut Vec<u8>) -> io::Result<Option<Found>> {
        let path = self.object(key)?;
        let mut attempt = 1;
        loop {
            match self.runtime.block_on(self.get(&path, &extent, into)) {
                Ok(found) => return Ok(Some(found)),
                Err(Failure::Request(error)) => return absent(Err(error)),
                Err(Failure::Refused(error)) => return Err(error),
                // `object_store` resumes a body only if the server sends an ETag.
                Err(Failure::Body(error)) if attempt >= self.attempts => {
                    return Err(failed(error));
                }
                Err(Failure::Body(_)) => pause(&mut attempt),
            }
        }
    }

    fn stat(&self, key: &str) -> io::Result<Option<Found>> {
        let path = self.object(key)?;
        let meta = absent(self.runtime.block_on(self.store.head(&path)))?;
        Ok(meta.as_ref().map(found))
    }

    fn write(&self, key: &str, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let path = self.object(key)?;
        let written = self.runtime.block_on(self.store.put(&path, bytes.into()));
        // The client keeps the memory until the request is over.
        written.map(|_| Vec::new()).map_err(failed)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        let path = self.object(key)?;
        absent(self.runtime.block_on(self.store.delete(&path))).map(|_| ())
    }

    fn lists(&self) -> bool {
        self.full
    }

    fn list(&self, folder: &str) -> io::Result<Listing> {
        let path = self.object(folder)?;
        let found = self.listed(|| self.store.list_with_delimiter(Some(&path)))?;
        let name = |path: &Path| path.filename().unwrap_or_default().to_owned();
        let mut listing = Listing {
            files: found.objects.iter().map(|object| name(&object.location)).collect(),
            folders: found.common_prefixes.iter().map(name).collect(),
        };
        // A name may become that of a file here.
        for name in listing.files.iter().chain(&listing.folders) {
            check_key(name, cfg!(windows)).map_err(io::Error::other)?;
        }
        listing.files.sort();
        listing.folders.sort();
        Ok(listing)
    }

    fn remote(&self) -> Option<&Remote> {
        Some(self)
    }

    fn copy(
        &self,
        key: &str,
        from: &dyn Store,
        source: &str,
        most: u64,
    ) -> io::Result<Option<Found>> {
        match from.remote() {
            // The server copies, and nothing passes through this machine.
            Some(other) if other.base == self.base => {
                let Some(found) = other.stat(source)? else { return Ok(None) };
                let (from, to) = (other.object(source)?, self.object(key)?);
                let copied = absent(self.runtime.block_on(self.store.copy(&from, &to)))?;
                Ok(copied.map(|()| found))
            }
            _ => super::copy(self, key, from, source, most),
        }
    }
}
