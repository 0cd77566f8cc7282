//! Writing a tensor: memory of the right size now, a complete file under its name at the end.

use crate::element::{ElementType, swap_numbers};
use crate::error::Error;
use crate::format::{Format, Location};
use crate::npy;
use crate::open::{names_in, shown};
use crate::safetensors;
use crate::save::{Pending, Target, allocate};
use crate::spool;
use crate::tensor::Tensor;
use memmap2::MmapMut;
use retrograde::Layout;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::ops::Range;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A tensor that is being written.
///
/// Its memory is the file itself, mapped, with all its blocks there (a pipe and an archive get
/// theirs at the end). Nothing appears under the output's name before [`finish`](Self::finish).
#[derive(Debug)]
pub struct Output {
    location: Location,
    format: Format,
    name: String,
    element: ElementType,
    layout: Layout,
    header: Vec<u8>,
    memory: MmapMut,
    /// Where the data starts in the memory.
    start: usize,
    /// Bytes of the numbers that must be turned around; 1 for none.
    swapped: usize,
    sink: Sink,
}

/// Where the memory goes.
#[derive(Debug)]
enum Sink {
    /// It is the file.
    Mapped(Pending),
    /// Into an archive.
    Archive(Pending),
    Device(File),
    Stdout,
}

impl Output {
    /// Begins a tensor of the input's shape and type at this location, in the format its
    /// extension names. The order of axes and bytes stays, where the format has both.
    ///
    /// ```
    /// use retrograde::{Reversal, Reverse, TensorMut};
    /// use retrograde_io::{Location, Opening, Output, open, npy};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| Location::file(folder.path().join(name));
    /// # npy::write(at("x.npy").path, &npy::NpyArray::new(">u2", &[2], false, vec![0, 1, 0, 2])?)?;
    /// let x = open(&at("x.npy"), &Opening::default())?;
    /// let mut y = Output::like(&x, at("y.safetensors"), None)?;
    /// let layout = y.layout().clone();
    /// Reverse::all().run(&x.view()?, &mut TensorMut::new(layout, y.data_mut())?)?;
    /// y.finish()?;
    /// let y = open(&at("y.safetensors"), &Opening::default())?;
    /// assert_eq!(y.data(), [2, 0, 1, 0]); // little-endian, as the format has it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn like(
        input: &Tensor,
        location: Location,
        format: Option<Format>,
    ) -> Result<Output, Error> {
        let path = location.path.clone();
        let failed = |error| Error::write(&path, error);
        let named = Format::of(&path).filter(|_| !location.is_stream());
        // Without any hint, a stream is what NumPy reads.
        let streamed = location.is_stream().then_some(Format::Npy);
        let target =
            if location.is_stream() { None } else { Some(Target::of(&path).map_err(failed)?) };
        // A device has no extension; it gets what was read.
        let device = matches!(target, Some(Target::Device(_))).then_some(input.format());
        let unknown = || Error::UnknownOutput { path: path.clone() };
        let format = format.or(named).or(streamed).or(device).ok_or_else(unknown)?;
        let name = name_of(input, &location, format)?;
        if let Some(Target::File(target, true)) = &target {
            refuse_loss(target, &path, format, &name)?;
        }
        let Laid { element, layout, header } = lay_out(input, &path, format, &name)?;
        let turned = element.is_big_endian() != input.element_type().is_big_endian();
        let swapped = if turned { element.number_bytes() } else { 1 };

        let bytes = layout.byte_len();
        let folder = spool::folder_beside((!location.is_stream()).then_some(&path));
        let spooled = || spool::zeroed(bytes, &folder).map_err(failed);
        let (memory, start, sink) = match target {
            None => (spooled()?, 0, Sink::Stdout),
            Some(Target::Device(device)) => (spooled()?, 0, Sink::Device(device)),
            Some(Target::File(target, replaces)) => {
                let pending = Pending::new(target, replaces).map_err(failed)?;
                if format == Format::Npz {
                    (spooled()?, 0, Sink::Archive(pending))
                } else {
                    let memory = mapped(&pending, &header, bytes).map_err(failed)?;
                    (memory, header.len(), Sink::Mapped(pending))
                }
            }
        };
        Ok(Output { location, format, name, element, layout, header, memory, start, swapped, sink })
    }

    /// Where it is going.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// In which format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its element type, as it will be in the file.
    pub fn element_type(&self) -> &ElementType {
        &self.element
    }

    /// Where the elements lie in the data.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The elements, to be written; in the byte order of the input.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }

    /// Has these bytes of the data ready to be written when this returns, if the system can do
    /// that: cheaper than finding out page by page.
    pub fn prepare(&self, range: Range<usize>) {
        #[cfg(target_os = "linux")]
        {
            let start = (self.start + range.start).min(self.memory.len());
            let len = range.len().min(self.memory.len() - start);
            if len > 0 {
                // It may be refused; then nothing is lost but time.
                let _ = self.memory.advise_range(memmap2::Advice::PopulateWrite, start, len);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// Tells the system that single pages will be written all over, so that it does not make
    /// those around each of them as well: in little memory, they would be gone before their turn.
    pub fn will_scatter(&self) {
        #[cfg(target_os = "linux")]
        let _ = self.memory.advise(memmap2::Advice::Random);
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<(), Error> {
        let swapped = self.swapped;
        swap_numbers(self.data_mut(), swapped);
        let Output { location, format, name, header, memory, sink, .. } = self;
        let path = location.path;
        let result = match sink {
            Sink::Mapped(pending) => {
                drop(memory);
                pending.finish()
            }
            Sink::Archive(pending) => {
                let zip = ZipWriter::new(BufWriter::new(pending.file()));
                archive(zip, &name, &header, &memory).and_then(|()| pending.finish())
            }
            Sink::Device(device) => stream(device, format, &name, &header, &memory),
            Sink::Stdout => stream(io::stdout().lock(), format, &name, &header, &memory),
        };
        result.map_err(|error| Error::write(&path, error))
    }
}

/// How a tensor will lie in its file.
struct Laid {
    element: ElementType,
    layout: Layout,
    header: Vec<u8>,
}

fn lay_out(input: &Tensor, path: &Path, format: Format, name: &str) -> Result<Laid, Error> {
    let element = input.element_type();
    let cannot =
        || Error::CannotHold { path: path.to_owned(), format, element: element.to_string() };
    let in_rows = || {
        Layout::dense(element.dtype(), input.shape())
            .map_err(|e| Error::Npy { path: path.to_owned(), source: e.into() })
    };
    match format {
        Format::Npy | Format::Npz => {
            let descr = element.to_descr().ok_or_else(cannot)?;
            let fortran_order = input.fortran_order();
            let (header, _) = npy::lay_out(&descr, fortran_order, input.shape())
                .map_err(|source| Error::Npy { path: path.to_owned(), source })?;
            let layout = if fortran_order { input.layout().clone() } else { in_rows()? };
            Ok(Laid { element: element.clone(), layout, header })
        }
        Format::Safetensors => {
            let dtype = element.dtype();
            let spelled = dtype.names().and_then(|names| names.safetensors).ok_or_else(cannot)?;
            let layout = in_rows()?;
            if dtype.is_packed() && !layout.len().is_multiple_of(layout.grain().per_byte()) {
                return Err(cannot());
            }
            let header = safetensors::encode(name, spelled, &layout);
            Ok(Laid { element: ElementType::Plain(dtype), layout, header })
        }
        Format::Raw => {
            Ok(Laid { element: element.to_little_endian(), layout: in_rows()?, header: Vec::new() })
        }
    }
}

/// The name it gets: the one asked for, its own, or a usual one.
fn name_of(input: &Tensor, location: &Location, format: Format) -> Result<String, Error> {
    let path = || location.path.clone();
    if !format.has_names() {
        return match location.name.clone() {
            Some(name) => Err(Error::NoNames { path: path(), name, format }),
            None => Ok(String::new()),
        };
    }
    let usual = if format == Format::Npz { "arr_0" } else { "tensor" };
    let name = location.name.as_deref().or(input.name()).unwrap_or(usual);
    let climbs = name.split(['/', '\\']).any(|part| part == "..");
    let absolute = name.starts_with(['/', '\\']) || name.contains('\0');
    let reserved = format == Format::Safetensors && name == "__metadata__";
    if name.is_empty() || reserved || format == Format::Npz && (climbs || absolute) {
        return Err(Error::BadName { path: path(), name: name.to_owned() });
    }
    Ok(name.to_owned())
}

/// An archive is written whole; it must not hold anything else.
fn refuse_loss(target: &Path, path: &Path, format: Format, name: &str) -> Result<(), Error> {
    if !format.has_names() {
        return Ok(());
    }
    let mut names = names_in(target, format);
    names.retain(|own| own != name);
    if names.is_empty() {
        return Ok(());
    }
    let (names, more) = shown(names);
    Err(Error::OthersWouldGo { path: path.to_owned(), names, more })
}

/// The whole file as memory, the header written.
fn mapped(pending: &Pending, header: &[u8], bytes: usize) -> io::Result<MmapMut> {
    let len = header.len().checked_add(bytes).ok_or(io::ErrorKind::StorageFull)?;
    allocate(pending.file(), len as u64)?;
    // SAFETY: the file was made for this and has a name that nobody else knows; it has all its
    // blocks, so writing to the memory cannot fail for want of room.
    let mut memory = unsafe { MmapMut::map_mut(pending.file()) }?;
    memory[..header.len()].copy_from_slice(header);
    Ok(memory)
}

fn archive<W: Write + Seek>(
    mut zip: ZipWriter<W>,
    name: &str,
    header: &[u8],
    data: &[u8],
) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(header.len() + data.len() >= u32::MAX as usize);
    zip.start_file(format!("{name}.npy"), options)?;
    zip.write_all(header)?;
    zip.write_all(data)?;
    zip.finish()?.flush()
}

/// Writes to something that has no way back.
fn stream(
    mut out: impl Write,
    format: Format,
    name: &str,
    header: &[u8],
    data: &[u8],
) -> io::Result<()> {
    if format == Format::Npz {
        return archive(ZipWriter::new_stream(out), name, header, data);
    }
    out.write_all(header)?;
    out.write_all(data)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Opening, open};
    use retrograde::DType;
    use std::fs;

    fn raw(folder: &Path, dtype: DType, shape: &[usize], data: &[u8]) -> Tensor {
        let path = folder.join("in.raw");
        fs::write(&path, data).unwrap();
        let opening =
            Opening { dtype: Some(dtype), shape: Some(shape.to_vec()), ..Opening::default() };
        open(&Location::file(path), &opening).unwrap()
    }

    /// Writes the input's own bytes.
    fn copied(input: &Tensor, location: Location) -> Result<(), Error> {
        let mut output = Output::like(input, location, None)?;
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
            for name in ["y.npy", "y.npz", "y.safetensors", "y.raw"] {
                let at = Location::file(folder.path().join(name));
                let _ = fs::remove_file(&at.path);
                let format = Format::of(&at.path).unwrap();
                let has = match format {
                    Format::Npy | Format::Npz => !dtype.is_packed(),
                    Format::Safetensors => dtype.names().unwrap().safetensors.is_some(),
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

    #[test]
    fn what_is_not_finished_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let input = raw(folder.path(), DType::U8, &[3], &[1, 2, 3]);
        let mut output =
            Output::like(&input, Location::file(folder.path().join("y.npy")), None).unwrap();
        output.data_mut().fill(9);
        drop(output);
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["in.raw"]);
    }
}
