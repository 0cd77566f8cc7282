//! Writes a tensor: memory of the right size now, a complete file under its name at the end.

use crate::element::{ElementType, swap_numbers};
use crate::error::Error;
use crate::format::{Format, Location};
use crate::latched::Latched;
use crate::npy::{self, Kind};
use crate::onnx::{self, StringsMessage};
use crate::open::{names_in, shown};
use crate::safetensors;
use crate::save::{self, Pending, Saving, Target, allocate};
use crate::spool::{self, Room};
use crate::strings::{self, Strings, string_at};
use crate::tensor::Tensor;
use crate::text::{self, Cells};
use crate::value::Value;
use bytes::Bytes;
use memmap2::MmapMut;
use retrograde::{DType, Layout};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Bytes of a value that are copied at a time.
const FILLED: usize = 16 << 20;

/// A tensor that is being written.
///
/// Its memory is the mapped file itself, with all blocks allocated (a pipe and an archive are
/// written at the end instead). Nothing appears under the output's name before
/// [`finish`](Self::finish).
#[derive(Debug)]
pub struct Output {
    location: Location,
    format: Format,
    name: String,
    element: ElementType,
    layout: Layout,
    header: Vec<u8>,
    coding: Coding,
    memory: Room,
    /// Offset of the data in the memory.
    start: usize,
    data_bytes: usize,
    /// Width of the numbers that must be byte-swapped, in bytes; 1 for none.
    swapped: usize,
    sink: Sink,
}

/// What the memory holds, which determines how it is written.
#[derive(Debug)]
enum Coding {
    /// The elements themselves.
    Plain,
    /// Handles of strings in this text, which are written as fixed-width cells.
    Cells(Cells, Bytes),
    /// Strings of a TensorProto: handles into this text, or fixed-width cells if `None`.
    Message(StringsMessage, Option<Bytes>),
}

/// Where the memory is written to.
#[derive(Debug)]
enum Sink {
    /// The memory is the mapped file.
    Mapped(Pending),
    /// A file that is written at the end: an archive, or strings.
    Encoded(Pending),
    Device(File),
    Stdout,
    /// It has been written.
    Done,
}

impl Output {
    /// Begins an output with the input's shape and type, in the format that the location's
    /// extension implies. Memory order and byte order are kept if the format supports both. If it
    /// replaces a file, it takes over that file's permissions, owner and extended attributes.
    ///
    /// ```
    /// use retrograde::{Reversal, Reverse, TensorMut};
    /// use retrograde_io::{Location, Opening, Output, Saving, npy, open};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| Location::file(folder.path().join(name));
    /// # npy::write(at("x.npy").path, &npy::NpyArray::new(">u2", &[2], false, vec![0, 1, 0, 2])?)?;
    /// let x = open(&at("x.npy"), &Opening::default())?;
    /// let mut y = Output::like(&x, at("y.safetensors"), &Saving::default())?;
    /// let layout = y.layout().clone();
    /// Reverse::all().apply_view(&x.view()?, &mut TensorMut::new(layout, y.data_mut())?)?;
    /// y.finish()?;
    /// let y = open(&at("y.safetensors"), &Opening::default())?;
    /// assert_eq!(y.data(), [2, 0, 1, 0]); // little-endian, as the format has it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn like(input: &Tensor, location: Location, saving: &Saving) -> Result<Output, Error> {
        let place = Place::of(location, saving, input.format())?;
        let name = name_of(input.name(), &place.location, place.format)?;
        let planned = lay_out(input, &place.location.path, place.format, &name)?;
        let differs = planned.element.is_big_endian() != input.element_type().is_big_endian();
        let swapped = if differs { planned.element.number_bytes() } else { 1 };
        place.begin(name, planned, swapped)
    }

    /// As [`like`](Self::like), with two axes of the shape swapped, and in row-major order. `None`
    /// swaps none and keeps the memory order.
    pub fn like_swapped(
        input: &Tensor,
        axes: Option<(usize, usize)>,
        location: Location,
        saving: &Saving,
    ) -> Result<Output, Error> {
        let Some((first, second)) = axes else { return Output::like(input, location, saving) };
        let mut shape = input.shape().to_vec();
        shape.swap(first, second);
        let layout = Layout::dense(input.layout().dtype(), &shape)
            .map_err(|e| Error::npy(&location.path, e))?;
        // Only its shape, types and strings are used.
        let swapped = Tensor { layout, fortran_order: false, ..input.clone() };
        Output::like(&swapped, location, saving)
    }

    /// Begins an output and fills it with a value, so that only [`finish`](Self::finish) remains.
    /// The name is used if the format has names and the location gives none. `watch` is called with
    /// the size of every piece that was copied, in bytes.
    pub fn of_value(
        value: &Value,
        name: &str,
        location: Location,
        saving: &Saving,
        watch: &mut dyn FnMut(usize),
    ) -> Result<Output, Error> {
        let place = Place::of(location, saving, Format::Npy)?;
        let tensor = Tensor::from_value(value, name, (&place.location.path, place.format))?;
        let saving = Saving { format: Some(place.format), ..saving.clone() };
        let mut output = Output::like(&tensor, place.location, &saving)?;
        for start in (0..tensor.data().len()).step_by(FILLED) {
            let range = start..tensor.data().len().min(start + FILLED);
            output.prepare(range.clone());
            output.data_mut()[range.clone()].copy_from_slice(&tensor.data()[range.clone()]);
            watch(range.len());
        }
        Ok(output)
    }

    /// Its location.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its element type in the file.
    pub fn element_type(&self) -> &ElementType {
        &self.element
    }

    /// Size of the elements in the file, in bytes.
    pub fn data_bytes(&self) -> usize {
        self.data_bytes
    }

    /// The layout of the elements in the data; for strings, of their handles.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements, for writing, in the byte order of the input.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }

    /// Prefaults these bytes of the data for writing, if the system supports it: one call is
    /// cheaper than a page fault per page.
    pub fn prepare(&self, range: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            let start = (self.start + range.start).min(self.memory.len());
            let len = range.len().min(self.memory.len() - start);
            if len > 0 {
                self.memory.advise(memmap2::Advice::PopulateWrite, start, len);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// Advises the system that single pages will be written at random, so that it does not prefault
    /// their neighbours: if memory is short, these would be evicted before they are used.
    pub fn will_scatter(&self) {
        #[cfg(target_os = "linux")]
        self.memory.advise(memmap2::Advice::Random, 0, self.memory.len());
    }

    /// Completes the file and renames it to its final name.
    pub fn finish(self) -> Result<(), Error> {
        Output::finish_all(vec![self])
    }

    /// Completes several files, then gives them their names: none gets its name before all are
    /// complete. If one of these renames fails, the ones before it are undone.
    pub fn finish_all(outputs: Vec<Output>) -> Result<(), Error> {
        Output::complete_all(outputs)?.publish()
    }

    /// Completes several outputs except for their names. The inputs are no longer needed
    /// afterwards; on Windows, an input has to be closed before it can be replaced.
    pub fn complete_all(mut outputs: Vec<Output>) -> Result<Completed, Error> {
        let mut completed = Completed { files: Vec::new(), paths: Vec::new() };
        for output in &mut outputs {
            let path = output.location.path.clone();
            if let Some(file) = output.complete().map_err(|error| Error::write(&path, error))? {
                completed.files.push(file);
                completed.paths.push(path);
            }
        }
        // Pipes and devices cannot be undone, so they are written last.
        for output in &mut outputs {
            output.send().map_err(|error| Error::write(&output.location.path, error))?;
        }
        Ok(completed)
    }

    /// Completes the file, if it is one, except for its name.
    fn complete(&mut self) -> io::Result<Option<Pending>> {
        let swapped = self.swapped;
        swap_numbers(self.data_mut(), swapped);
        match &self.sink {
            Sink::Mapped(_) => self.memory = Room::none(),
            Sink::Encoded(pending) if self.format == Format::Npz => {
                let mut file = Latched::new(BufWriter::new(pending.file()));
                let written = self.archive(ZipWriter::new(&mut file));
                file.into_result()?;
                written?;
            }
            Sink::Encoded(pending) => self.stream(pending.file())?,
            Sink::Device(_) | Sink::Stdout | Sink::Done => return Ok(None),
        }
        match std::mem::replace(&mut self.sink, Sink::Done) {
            Sink::Mapped(pending) | Sink::Encoded(pending) => {
                pending.complete()?;
                Ok(Some(pending))
            }
            _ => Ok(None),
        }
    }

    /// Writes to a pipe or a device.
    fn send(&mut self) -> io::Result<()> {
        match &self.sink {
            Sink::Device(device) => self.stream(device),
            Sink::Stdout => self.stream(io::stdout().lock()),
            Sink::Mapped(_) | Sink::Encoded(_) | Sink::Done => Ok(()),
        }
    }

    /// Writes header and elements in the output's format.
    fn write(&self, mut out: impl Write) -> io::Result<()> {
        let data = &self.memory[self.start..];
        let width = strings::HANDLE.bits().unwrap_or(8) / 8;
        let strings_at = |text| data.chunks_exact(width).map(move |at| string_at(text, at));
        out.write_all(&self.header)?;
        match &self.coding {
            Coding::Plain => out.write_all(data),
            Coding::Cells(cells, text) => cells.write(strings_at(text), &mut out),
            Coding::Message(message, Some(text)) => message.write(&mut out, strings_at(text)),
            Coding::Message(message, None) => {
                let cells = text::cells(&self.element, data, self.layout.len());
                message.write(&mut out, cells.map(|cell| text::string_in(&self.element, cell)))
            }
        }
    }

    fn archive<W: Write + Seek>(&self, mut zip: ZipWriter<W>) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(self.header.len() + self.data_bytes >= u32::MAX as usize);
        zip.start_file(format!("{}.npy", self.name), options)?;
        self.write(&mut zip)?;
        zip.finish()?.flush()
    }

    /// Writes to an output that cannot seek.
    fn stream(&self, mut out: impl Write) -> io::Result<()> {
        if self.format == Format::Npz {
            let mut latched = Latched::new(&mut out);
            let written = self.archive(ZipWriter::new_stream(&mut latched));
            latched.into_result()?;
            return written;
        }
        self.write(&mut out)?;
        out.flush()
    }
}

/// Outputs that are complete except for their names. Dropping it removes them.
#[derive(Debug)]
pub struct Completed {
    files: Vec<Pending>,
    paths: Vec<PathBuf>,
}

impl Completed {
    /// Gives them their names. If one of these renames fails, the ones before it are undone.
    pub fn publish(self) -> Result<(), Error> {
        save::publish(self.files).map_err(|failed| failed.into_error(self.paths))
    }
}

/// The destination of a tensor and its format.
struct Place {
    location: Location,
    format: Format,
    /// `None` is stdout.
    target: Option<Target>,
}

impl Place {
    /// The given format, or the one that the name implies, or a default.
    fn of(location: Location, saving: &Saving, device: Format) -> Result<Place, Error> {
        let path = &location.path;
        let named = location.format();
        // By default, a stream is in the format that NumPy reads.
        let streamed = location.is_stream().then_some(Format::Npy);
        let target = match location.is_stream() {
            true => None,
            false => Some(Target::of(path, saving)?),
        };
        // A device has no extension; it gets the format of the input.
        let device = matches!(target, Some(Target::Device(_))).then_some(device);
        let unknown = || Error::UnknownOutput { path: path.clone() };
        let format = saving.format.or(named).or(streamed).or(device).ok_or_else(unknown)?;
        Ok(Place { location, format, target })
    }

    fn begin(self, name: String, planned: FileLayout, swapped: usize) -> Result<Output, Error> {
        let Place { location, format, target } = self;
        let FileLayout { element, layout, header, coding, data_bytes } = planned;
        let path = location.path.clone();
        let failed = |error| Error::write(&path, error);
        if let Some(Target::File { path: target, replaces: true }) = &target {
            refuse_loss(target, &path, format, &name)?;
        }
        let bytes = layout.byte_len();
        let folder = spool::folder_beside((!location.is_stream()).then_some(&path));
        let spooled = || spool::zeroed(bytes, &folder).map_err(failed);
        let (memory, start, sink) = match target {
            None => (spooled()?, 0, Sink::Stdout),
            Some(Target::Device(device)) => (spooled()?, 0, Sink::Device(device)),
            Some(Target::File { path: target, replaces }) => {
                let pending = Pending::new(target, replaces).map_err(failed)?;
                if format == Format::Npz || !matches!(coding, Coding::Plain) {
                    // Allocates all blocks, so that a full disk is an error now.
                    allocate(pending.file(), (header.len() + data_bytes) as u64).map_err(failed)?;
                    (spooled()?, 0, Sink::Encoded(pending))
                } else {
                    let memory = mapped(&pending, &header, bytes).map_err(failed)?;
                    (memory, header.len(), Sink::Mapped(pending))
                }
            }
        };
        Ok(Output {
            location,
            format,
            name,
            element,
            layout,
            header,
            coding,
            memory,
            start,
            data_bytes,
            swapped,
            sink,
        })
    }
}

/// How a tensor is stored in its file.
struct FileLayout {
    element: ElementType,
    layout: Layout,
    header: Vec<u8>,
    coding: Coding,
    /// Size of the elements as they are written, in bytes.
    data_bytes: usize,
}

impl FileLayout {
    /// Elements that are written unchanged.
    fn plain(element: ElementType, layout: Layout, header: Vec<u8>) -> FileLayout {
        let data_bytes = layout.byte_len();
        FileLayout { element, layout, header, coding: Coding::Plain, data_bytes }
    }
}

fn lay_out(input: &Tensor, path: &Path, format: Format, name: &str) -> Result<FileLayout, Error> {
    let element = input.element_type();
    let cannot =
        || Error::CannotHold { path: path.to_owned(), format, element: element.to_string() };
    let in_rows = || Layout::dense(element.dtype(), input.shape()).map_err(|e| Error::npy(path, e));
    if let Some(strings) = &input.strings {
        return lay_out_strings(input.layout(), strings, path, format, name);
    }
    match format {
        Format::Npy | Format::Npz => {
            let descr = element.to_descr().ok_or_else(cannot)?;
            let fortran_order = input.fortran_order();
            let (header, _) = npy::lay_out(&descr, fortran_order, input.shape())
                .map_err(|e| Error::npy(path, e))?;
            let layout = if fortran_order { input.layout().clone() } else { in_rows()? };
            Ok(FileLayout::plain(element.clone(), layout, header))
        }
        Format::Safetensors => {
            let dtype = element.dtype();
            let spelled = dtype.names().and_then(|names| names.safetensors).ok_or_else(cannot)?;
            let layout = in_rows()?;
            if dtype.is_packed() && !layout.len().is_multiple_of(layout.grain().per_byte()) {
                return Err(cannot());
            }
            let header = safetensors::encode(name, spelled, &layout);
            Ok(FileLayout::plain(ElementType::Plain(dtype), layout, header))
        }
        // Strings in a TensorProto have no fixed width: cells are converted to strings at the end.
        Format::Pb if matches!(element.kind(), Kind::Text | Kind::Bytes) => {
            let refused = |reason| Error::Strings { path: path.to_owned(), reason };
            text::check_count(element, input.layout().len()).map_err(refused)?;
            // Reversing changes neither their number nor their lengths, so the message size is
            // known now.
            let (cells, mut wrong) =
                (text::cells(element, input.data(), input.layout().len()), None);
            let mut data_bytes = 0;
            let lengths = cells.map(|cell| {
                let len = text::len_in(element, cell).unwrap_or_else(|reason| {
                    wrong = Some(reason);
                    0
                });
                data_bytes += len;
                len
            });
            let message = StringsMessage::of(name, input.shape(), lengths)
                .map_err(|source| Error::proto(path, source))?;
            if let Some(reason) = wrong {
                return Err(refused(reason.to_owned()));
            }
            Ok(FileLayout {
                element: element.to_little_endian(),
                layout: in_rows()?,
                header: Vec::new(),
                coding: Coding::Message(message, None),
                data_bytes,
            })
        }
        Format::Pb => {
            let dtype = element.dtype();
            dtype.names().and_then(|names| names.onnx).ok_or_else(cannot)?;
            let layout = in_rows()?;
            let header = onnx::raw_head(name, dtype, input.shape(), layout.byte_len())
                .map_err(|source| Error::proto(path, source))?;
            Ok(FileLayout::plain(ElementType::Plain(dtype), layout, header))
        }
        // Raw bytes are little-endian. A record with big-endian fields needs a format that can say
        // so.
        Format::Raw if element.kind() == Kind::Record && element.is_big_endian() => Err(cannot()),
        Format::Raw => Ok(FileLayout::plain(element.to_little_endian(), in_rows()?, Vec::new())),
    }
}

/// Lays out strings as strings, or as cells as wide as the longest. Handles are what moves.
fn lay_out_strings(
    layout: &Layout,
    strings: &Strings,
    path: &Path,
    format: Format,
    name: &str,
) -> Result<FileLayout, Error> {
    let (layout, text) = (layout.clone(), strings.text().clone());
    if format == Format::Pb {
        let message = StringsMessage::of(name, layout.shape(), strings.iter().map(<[u8]>::len))
            .map_err(|source| Error::proto(path, source))?;
        let (element, header) = (ElementType::Plain(DType::String), Vec::new());
        let (coding, data_bytes) = (Coding::Message(message, Some(text)), strings.byte_len());
        return Ok(FileLayout { element, layout, header, coding, data_bytes });
    }
    if format == Format::Safetensors {
        let element = DType::String.to_string();
        return Err(Error::CannotHold { path: path.to_owned(), format, element });
    }
    let taken = text.len().saturating_add(layout.byte_len());
    let cells = Cells::of(strings.iter(), taken)
        .map_err(|reason| Error::Strings { path: path.to_owned(), reason })?;
    let header = match format {
        Format::Raw => Vec::new(),
        _ => npy::lay_out(&cells.descr, false, layout.shape()).map_err(|e| Error::npy(path, e))?.0,
    };
    let data_bytes = cells.width() * layout.len();
    let element = ElementType::Numpy(cells.descr.clone());
    Ok(FileLayout { element, layout, header, coding: Coding::Cells(cells, text), data_bytes })
}

/// Its name in the file: the requested one, its own, or a default.
fn name_of(own: Option<&str>, location: &Location, format: Format) -> Result<String, Error> {
    let path = || location.path.clone();
    if !format.has_names() {
        return match location.name.clone() {
            Some(name) => Err(Error::NoNames { path: path(), name, format }),
            // The name in a TensorProto may be empty and does not identify the tensor.
            None => Ok(own.unwrap_or_default().to_owned()),
        };
    }
    let usual = if format == Format::Npz { "arr_0" } else { "tensor" };
    let name = location.name.as_deref().or(own).unwrap_or(usual);
    let climbs = name.split(['/', '\\']).any(|part| part == "..");
    let absolute = name.starts_with(['/', '\\']) || name.contains('\0');
    let reserved = format == Format::Safetensors && name == "__metadata__";
    if name.is_empty() || reserved || format == Format::Npz && (climbs || absolute) {
        return Err(Error::BadName { path: path(), name: name.to_owned() });
    }
    Ok(name.to_owned())
}

/// An archive is rewritten as a whole, so it must not hold other tensors.
fn refuse_loss(target: &Path, path: &Path, format: Format, name: &str) -> Result<(), Error> {
    if !format.has_names() {
        return Ok(());
    }
    let mut names = names_in(target, format);
    names.retain(|own| own != name);
    if names.is_empty() {
        return Ok(());
    }
    let (names, more) = shown(&names);
    Err(Error::OthersWouldGo { path: path.to_owned(), names, more })
}

/// Maps the whole file and writes the header.
fn mapped(pending: &Pending, header: &[u8], bytes: usize) -> io::Result<Room> {
    let len = header.len().checked_add(bytes).ok_or(io::ErrorKind::StorageFull)?;
    allocate(pending.file(), len as u64)?;
    // SAFETY: the file was created here under a name that no other process knows. All its blocks
    // are allocated, so that writing to the memory cannot fail for lack of space.
    let mut memory = unsafe { MmapMut::map_mut(pending.file()) }?;
    memory[..header.len()].copy_from_slice(header);
    Ok(Room::File(memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Opening, open};
    use std::fs;

    fn raw(folder: &Path, dtype: DType, shape: &[usize], data: &[u8]) -> Tensor {
        let path = folder.join("in.raw");
        fs::write(&path, data).unwrap();
        let opening =
            Opening { dtype: Some(dtype), shape: Some(shape.to_vec()), ..Opening::default() };
        open(&Location::file(path), &opening).unwrap()
    }

    /// Copies the input's bytes to an output.
    fn copied(input: &Tensor, location: Location) -> Result<(), Error> {
        let mut output = Output::like(input, location, &Saving::default())?;
        output.data_mut().copy_from_slice(input.data());
        output.finish()
    }

    #[test]
    fn every_type_goes_through_every_format_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        for &dtype in DType::ALL {
            let Some(bits) = dtype.bits() else { continue };
            let data: Vec<u8> = (0..8 * bits / 8).map(|at| (at * 29) as u8).collect();
            let input = raw(folder.path(), dtype, &[2, 4], &data);
            for name in ["y.npy", "y.npz", "y.safetensors", "y.pb", "y.raw"] {
                let at = Location::file(folder.path().join(name));
                let _ = fs::remove_file(&at.path);
                let format = Format::of(&at.path).unwrap();
                let has = match format {
                    Format::Npy | Format::Npz => !dtype.is_packed(),
                    Format::Safetensors => dtype.names().unwrap().safetensors.is_some(),
                    Format::Pb => dtype.names().unwrap().onnx.is_some(),
                    Format::Raw => true,
                };
                let written = copied(&input, at.clone());
                assert_eq!(written.is_ok(), has, "{dtype} {name}: {written:?}");
                assert_eq!(at.path.exists(), has);
                if has {
                    let raw = format == Format::Raw;
                    let opening = Opening {
                        dtype: Some(dtype),
                        shape: raw.then(|| vec![2, 4]),
                        ..Opening::default()
                    };
                    let back = open(&at, &opening).unwrap();
                    assert_eq!((back.element_type().dtype(), back.data()), (dtype, &data[..]));
                    assert_eq!(back.shape(), [2, 4]);
                }
            }
        }
    }

    #[test]
    fn names_are_kept_given_or_usual_and_never_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let input = raw(folder.path(), DType::U8, &[1], &[7]);
        let at = |name: &str| Location::from(folder.path().join(name).as_os_str());
        copied(&input, at("a.npz")).unwrap();
        copied(&input, at("b.npz:w")).unwrap();
        copied(&open(&at("b.npz"), &Opening::default()).unwrap(), at("c.safetensors")).unwrap();
        let name =
            |file: &str| open(&at(file), &Opening::default()).unwrap().name().map(str::to_owned);
        assert_eq!(name("a.npz").as_deref(), Some("arr_0"));
        assert_eq!(name("b.npz:w").as_deref(), Some("w"));
        assert_eq!(name("c.safetensors").as_deref(), Some("w"));
        for bad in
            ["d.npz:../w", "d.npz:/w", "d.npz:a/../../w", "d.npz:", "d.safetensors:__metadata__"]
        {
            assert!(matches!(copied(&input, at(bad)), Err(Error::BadName { .. })), "{bad}");
        }
        assert!(matches!(copied(&input, at("b.npz:v")), Err(Error::OthersWouldGo { .. })));
        copied(&input, at("b.npz:w")).unwrap();
    }

    fn of_value(value: &Value, at: Location) -> Result<Output, Error> {
        Output::of_value(value, "w", at, &Saving::default(), &mut |_| {})
    }

    fn listed<const N: usize>(strings: [Bytes; N]) -> Strings {
        strings.into_iter().collect()
    }

    #[test]
    fn values_come_back_from_every_format_that_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let text = Value::strings(&[2, 1], listed(["größe".into(), "".into()])).unwrap();
        let bytes =
            Value::strings(&[2], listed([Bytes::from_static(b"\xff"), "a".into()])).unwrap();
        let zero = Value::strings(&[1], listed([Bytes::from_static(b"a\0")])).unwrap();
        let numbers = Value::new(DType::I16, &[3], vec![1, 0, 2, 0, 3, 0]).unwrap();
        let packed = Value::new(DType::U4, &[2], vec![0x21]).unwrap();
        let cases = [(&text, [true; 3]), (&bytes, [true; 3]), (&zero, [false, false, true])];
        let cases =
            cases.into_iter().chain([(&numbers, [true; 3]), (&packed, [false, false, true])]);
        for (value, fits) in cases {
            for (name, fits) in ["y.npy", "y.npz", "y.pb"].into_iter().zip(fits) {
                let at = Location::file(folder.path().join(name));
                let _ = fs::remove_file(&at.path);
                let written = of_value(value, at.clone()).and_then(Output::finish);
                assert_eq!(written.is_ok(), fits, "{name}: {written:?}");
                assert_eq!(at.path.exists(), fits);
                if fits {
                    let back = crate::open_value(&at, &Opening::default(), None).unwrap();
                    assert_eq!(back, *value, "{name}");
                }
            }
        }
        let from = Location::file(folder.path().join("y.pb"));
        of_value(&text, from.clone()).unwrap().finish().unwrap();
        // From one TensorProto to another they remain strings.
        let strings = open(&from, &Opening::default()).unwrap();
        let kind = strings.element_type().to_string();
        assert_eq!((kind.as_str(), strings.name()), ("string", Some("w")));
        assert_eq!(strings.element(&[0, 0]).unwrap(), "größe".as_bytes());
        let to = Location::file(folder.path().join("z.pb"));
        copied(&strings, to.clone()).unwrap();
        assert_eq!(fs::read(from.path).unwrap(), fs::read(to.path).unwrap());
    }

    #[test]
    fn what_is_not_finished_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let input = raw(folder.path(), DType::U8, &[3], &[1, 2, 3]);
        let at = Location::file(folder.path().join("y.npy"));
        let mut output = Output::like(&input, at, &Saving::default()).unwrap();
        output.data_mut().fill(9);
        drop(output);
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["in.raw"]);
    }
}
