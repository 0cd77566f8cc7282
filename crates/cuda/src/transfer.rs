//! Runs a route: uploads ranges of the host's tensor, runs the kernel, and downloads the result, so
//! that the copies of one piece overlap the kernel of another.

use crate::device::Cuda;
use crate::error::Error;
use crate::memory::{CudaLengths, DeviceBuffer};
use crate::pinned::Pinned;
use crate::route::{Route, SLOTS, Side, Window};
use crate::stream::Stream;
use retrograde::{LengthsMemory, Plan, Table, cpu};
use std::ops::Range;
use std::time::Instant;

/// Bytes to copy to measure the speed of the bus, and the number of tries.
const MEASURED: usize = 32 << 20;
const TRIES: usize = 5;

/// The source of the input and the destination of the output, range by range. Every byte of the
/// output is written once; ranges come in any order.
pub trait Host {
    /// Fills `bytes` with this range of the input.
    fn read(&mut self, range: Range<usize>, bytes: &mut [u8]);
    /// Stores this range of the output.
    fn write(&mut self, range: Range<usize>, bytes: &[u8]);
}

impl Route<'_> {
    /// Runs the plan on a device. Lengths are checked first; nothing is written if one is invalid.
    pub fn run(
        &self,
        cuda: &Cuda,
        lengths: Option<LengthsMemory<'_>>,
        host: &mut impl Host,
    ) -> Result<(), Error> {
        cpu::Checked::new(self.plan, lengths)?;
        if self.pieces() == 0 {
            return Ok(());
        }
        let own = lengths.map_or(0, |lengths| lengths.memory().len());
        let needed = self.device_bytes().saturating_add(own);
        let (free, _) = cuda.memory()?;
        if needed > free {
            return Err(Error::TooLarge { needed, free });
        }
        // Once, for all pieces.
        let copied = lengths.map(|lengths| -> Result<_, Error> {
            let memory = lengths.memory();
            // SAFETY: readable memory, as promised by the creator of the value.
            let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) };
            Ok((lengths.dtype(), DeviceBuffer::from_host(cuda, bytes)?))
        });
        let copied = copied.transpose()?;
        let lengths = copied.as_ref().map(|(dtype, copy)| CudaLengths::Device(*dtype, copy.view()));
        match self.overlaps() {
            true => self.run_overlapped(cuda, lengths, host),
            false => self.run_in_turn(cuda, lengths, host),
        }
    }

    /// Small pieces: each passes through a slot while others pass through theirs.
    fn run_overlapped(
        &self,
        cuda: &Cuda,
        lengths: Option<CudaLengths<'_>>,
        host: &mut impl Host,
    ) -> Result<(), Error> {
        let slots = (0..SLOTS.min(self.pieces())).map(|_| Slot::new(cuda, self));
        let mut slots = slots.collect::<Result<Vec<_>, _>>()?;
        let (mut at, count) = (0, slots.len());
        for piece in self.iter() {
            slots[at].collect(host)?;
            slots[at].start(&piece, lengths, host)?;
            at = (at + 1) % count;
        }
        // The oldest first.
        (0..count).try_for_each(|later| slots[(at + later) % count].collect(host))
    }

    /// Large pieces, one after the other: only the host's copies overlap the transfers.
    fn run_in_turn(
        &self,
        cuda: &Cuda,
        lengths: Option<CudaLengths<'_>>,
        host: &mut impl Host,
    ) -> Result<(), Error> {
        let staged = self.bytes.min(self.input.max(self.output));
        let mut slots = [Staging::new(cuda, staged)?, Staging::new(cuda, staged)?];
        let mut input = DeviceBuffer::allocate(cuda, self.input)?;
        let mut output = DeviceBuffer::allocate(cuda, self.output)?;
        for piece in self.iter() {
            let window = Window::of(&piece);
            upload(&window.input, &mut input, &mut slots, host)?;
            let stream = slots[0].stream.looking_up(self.table);
            stream.execute_checked(
                &window.plan(&piece),
                input.view(),
                lengths,
                output.view_mut(),
            )?;
            stream.synchronize()?;
            download(&window.output, &output, &mut slots, host)?;
        }
        Ok(())
    }
}

/// The buffers and stream for a small piece. Dropping it waits for the device.
struct Slot<'a> {
    stream: Stream,
    table: Option<&'a Table>,
    sent: Pinned,
    received: Pinned,
    input: DeviceBuffer,
    output: DeviceBuffer,
    /// The range of the output that is in flight.
    pending: Option<Range<usize>>,
}

impl<'a> Slot<'a> {
    fn new(cuda: &Cuda, &Route { table, input, output, .. }: &Route<'a>) -> Result<Self, Error> {
        Ok(Slot {
            stream: cuda.stream()?,
            table,
            sent: Pinned::allocate(cuda, input)?,
            received: Pinned::allocate(cuda, output)?,
            input: DeviceBuffer::allocate(cuda, input)?,
            output: DeviceBuffer::allocate(cuda, output)?,
            pending: None,
        })
    }

    /// Waits for the piece in flight, and passes it to the host.
    fn collect(&mut self, host: &mut impl Host) -> Result<(), Error> {
        self.stream.synchronize()?;
        if let Some(range) = self.pending.take() {
            let len = range.len();
            host.write(range, &self.received.bytes()[..len]);
        }
        Ok(())
    }

    /// Starts a piece. No other may be in flight.
    fn start(
        &mut self,
        piece: &Plan,
        lengths: Option<CudaLengths<'_>>,
        host: &mut impl Host,
    ) -> Result<(), Error> {
        let window = Window::of(piece);
        let Window { input, output } = &window;
        let len = input.range.len();
        host.read(input.range.clone(), &mut self.sent.bytes()[..len]);
        // SAFETY: the slot's memory is used only by its own stream, and by the host in `collect`
        // and here, after waiting. It lives until `drop` has waited.
        unsafe { self.sent.send(len, &mut self.input, input.lead, &self.stream)? };
        let plan = window.plan(piece);
        let stream = self.stream.looking_up(self.table);
        stream.execute_checked(&plan, self.input.view(), lengths, self.output.view_mut())?;
        let len = output.range.len();
        // SAFETY: as above.
        unsafe { self.received.receive(len, &self.output, output.lead, &self.stream)? };
        self.pending = Some(output.range.clone());
        Ok(())
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // If that fails, the device can no longer run anything.
        let _ = self.stream.synchronize();
    }
}

/// A buffer for a part of a large piece, in flight in one direction. Dropping it waits for the
/// device.
struct Staging {
    stream: Stream,
    bytes: Pinned,
    pending: Option<Range<usize>>,
}

impl Staging {
    fn new(cuda: &Cuda, len: usize) -> Result<Self, Error> {
        let (stream, bytes) = (cuda.stream()?, Pinned::allocate(cuda, len)?);
        Ok(Staging { stream, bytes, pending: None })
    }

    /// Waits for the part that is being downloaded, and passes it to the host.
    fn collect(&mut self, host: &mut impl Host) -> Result<(), Error> {
        self.stream.synchronize()?;
        if let Some(range) = self.pending.take() {
            let len = range.len();
            host.write(range, &self.bytes.bytes()[..len]);
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // As for a slot.
        let _ = self.stream.synchronize();
    }
}

/// Uploads a window's input and waits until it has arrived.
fn upload(
    side: &Side,
    buffer: &mut DeviceBuffer,
    slots: &mut [Staging; 2],
    host: &mut impl Host,
) -> Result<(), Error> {
    for (number, part) in parts(side, slots).enumerate() {
        let slot = &mut slots[number % 2];
        slot.stream.synchronize()?;
        host.read(part.clone(), &mut slot.bytes.bytes()[..part.len()]);
        let offset = side.lead + part.start - side.range.start;
        // SAFETY: the host uses the staged bytes only after waiting. Each part of the buffer is
        // used by one stream, until both are waited for below or on drop, which happens before the
        // buffer is dropped.
        unsafe { slot.bytes.send(part.len(), buffer, offset, &slot.stream)? };
    }
    slots.iter().try_for_each(|slot| slot.stream.synchronize())
}

/// Downloads a window's output, which the device has finished.
fn download(
    side: &Side,
    buffer: &DeviceBuffer,
    slots: &mut [Staging; 2],
    host: &mut impl Host,
) -> Result<(), Error> {
    let parts = parts(side, slots);
    let mut next = 0;
    for part in parts {
        let slot = &mut slots[next];
        slot.collect(host)?;
        let offset = side.lead + part.start - side.range.start;
        // SAFETY: as in `upload`; the buffer is only read.
        unsafe { slot.bytes.receive(part.len(), buffer, offset, &slot.stream)? };
        slot.pending = Some(part);
        next = 1 - next;
    }
    slots[next].collect(host)?;
    slots[1 - next].collect(host)
}

/// A window's range in parts that fit the staging buffers.
fn parts(side: &Side, slots: &mut [Staging; 2]) -> impl Iterator<Item = Range<usize>> + use<> {
    let (range, step) = (side.range.clone(), slots[0].bytes.bytes().len().max(1));
    let end = range.end;
    range.step_by(step).map(move |start| start..end.min(start + step))
}

/// Bytes per second to the device and back, each the best of several tries.
pub fn bus_speed(cuda: &Cuda) -> Result<(f64, f64), Error> {
    let mut slot = Staging::new(cuda, MEASURED)?;
    let mut buffer = DeviceBuffer::allocate(cuda, MEASURED)?;
    let (mut there, mut back) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TRIES {
        let start = Instant::now();
        // SAFETY: waited for right below, or when the slot is dropped; the buffer's memory is freed
        // by a call that waits.
        unsafe { slot.bytes.send(MEASURED, &mut buffer, 0, &slot.stream)? };
        slot.stream.synchronize()?;
        there = there.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        // SAFETY: as above.
        unsafe { slot.bytes.receive(MEASURED, &buffer, 0, &slot.stream)? };
        slot.stream.synchronize()?;
        back = back.min(start.elapsed().as_secs_f64());
    }
    let speed = |time: f64| MEASURED as f64 / time.max(1e-9);
    Ok((speed(there), speed(back)))
}
