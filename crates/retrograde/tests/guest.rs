//! The engine in a process that belongs to someone else: it starts as many threads as it was given, runs
//! nothing but its own work on them, and survives a fork.

use retrograde::{Reversal, Reverse, cpu};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longer than anything here takes.
const DEADLINE: Duration = Duration::from_secs(60);

fn reversed(bytes: usize) -> bool {
    let x: Vec<u32> = (0..bytes as u32 / 4).collect();
    let y = Reverse::axes([0]).to_vec(&x, &[x.len()]).unwrap();
    y.iter().rev().eq(&x)
}

/// Four threads and a thousand tasks, of which every other one reverses 1 MiB with a lock held. A thread
/// that waited inside rayon would take another task meanwhile, and wait for its own lock.
#[test]
#[cfg_attr(miri, ignore = "too much work")]
fn a_lock_may_be_held_on_a_thread_of_rayon() {
    let (send, done) = channel();
    std::thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let memory = Arc::new(Mutex::new(vec![1u8; 4 << 20]));
        pool.scope(|scope| {
            for task in 0..1000 {
                let memory = Arc::clone(&memory);
                scope.spawn(move |_| {
                    if task % 2 == 0 {
                        let mut memory = memory.lock().unwrap();
                        let len = memory.len();
                        cpu::with_threads(4, || {
                            Reverse::axes([0]).in_place(&mut memory, &[len]).unwrap();
                        });
                    } else {
                        let start = std::time::Instant::now();
                        while start.elapsed() < Duration::from_micros(50) {}
                    }
                });
            }
        });
        send.send(()).unwrap();
    });
    assert!(done.recv_timeout(DEADLINE).is_ok(), "stuck");
}

#[test]
#[cfg(feature = "rayon")]
fn a_pool_of_rayon_is_a_limit() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let told = cpu::threads_from_environment();
    assert_eq!(pool.install(cpu::num_threads), told.unwrap_or(1));
    assert_eq!(pool.install(|| cpu::with_threads(3, cpu::num_threads)), 3);
}

/// What the children below do. Returns how many threads it started.
#[cfg(target_os = "linux")]
fn scenario(name: &str) -> usize {
    use retrograde::{DType, Layout, ReverseSubsequences};
    let tasks = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = tasks();
    match name {
        "ask" => assert!(cpu::num_threads() > 0 && cpu::max_threads() > 0),
        "flip" => assert!(reversed(4 << 20)),
        "one" => assert!(cpu::with_threads(1, || reversed(4 << 20))),
        "three" => assert!(cpu::with_threads(3, || reversed(4 << 20))),
        "lower" => {
            assert!(cpu::with_threads(3, || reversed(4 << 20)));
            assert!(cpu::with_threads(2, || reversed(64 << 20)));
        }
        "columns" => {
            let layout = Layout::dense(DType::U4, &[16, 32]).unwrap();
            let lengths: Vec<i64> = (0..32).map(|lane| lane % 17).collect();
            let columns = ReverseSubsequences::along(0).lengths(&lengths);
            let (x, mut y) = ([0x77u8; 256], [0u8; 256]);
            columns.prepare(&layout, &layout).unwrap().run(&x[..], &mut y[..]).unwrap();
            assert_eq!(x, y);
        }
        _ => panic!("no scenario {name}"),
    }
    tasks() - before
}

/// Not a test of its own: `no_more_threads_than_given` runs it in a process of its own.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "runs in a child of another test"]
fn child() {
    let name = std::env::var("SCENARIO").unwrap();
    println!("started {}", scenario(&name));
}

#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "starts processes")]
fn no_more_threads_than_given() {
    let cases = [
        ("ask", "", 0),
        ("ask", "RETROGRADE_NUM_THREADS=4", 0),
        ("columns", "RETROGRADE_NUM_THREADS=4", 0),
        ("flip", "RETROGRADE_NUM_THREADS=4", 3),
        ("flip", "RETROGRADE_NUM_THREADS=1", 0),
        ("flip", "OMP_NUM_THREADS=1", 0),
        ("flip", "OMP_NUM_THREADS=1,8", 0),
        ("flip", "RAYON_NUM_THREADS=1", 0),
        ("one", "RETROGRADE_NUM_THREADS=4", 0),
        ("three", "RETROGRADE_NUM_THREADS=1", 2),
        ("lower", "", 2),
    ];
    for (name, variable, started) in cases {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        // On the main thread, so that the harness starts none.
        child.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        for unset in ["RETROGRADE_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS"] {
            child.env_remove(unset);
        }
        if let Some((name, value)) = variable.split_once('=') {
            child.env(name, value);
        }
        let done = retrograde_deadline::output(child.env("SCENARIO", name)).unwrap();
        let shown = String::from_utf8_lossy(&done.stdout);
        let expected = format!("started {started}\n");
        assert!(shown.contains(&expected), "{name} with {variable:?}: {shown}");
    }
}

/// A child has neither the workers nor the memory that the parent keeps, and gets its own.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "forks")]
fn a_forked_child_reverses_too() {
    let is_right = || cpu::with_threads(3, || (0..3).all(|_| reversed(4 << 20)));
    drop(cpu::Block::new(8 << 20));
    assert!(is_right());
    // SAFETY: the child uses nothing of this process but the engine, and leaves without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let right = cpu::kept_memory() == 0 && is_right();
        // SAFETY: ends the child.
        unsafe { libc::_exit(if right { 0 } else { 1 }) };
    }
    let start = std::time::Instant::now();
    let mut status = -1;
    // SAFETY: the child of above.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if start.elapsed() > DEADLINE {
            // SAFETY: as above.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(status, 0);
}
