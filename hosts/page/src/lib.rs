//! The examples of `docs/hosts.md` are tests. They use several hosts, so they are in none of the
//! crates for one.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/hosts.md")]
struct Page;
