//! The cells of an experiment, appended one by one to a file that survives a kill at any moment.
//!
//! A file is a list of frames: length, checksum, content. The first says of which experiment the cells are; a frame that
//! was cut off when the program was killed is the last one, and is dropped when the file is opened again.

use crate::measure::Record;
use crate::model::Window;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a file of cells starts with; the digit is that of the format.
const MAGIC: &[u8; 8] = b"HERDSIM4";

/// Length and checksum of a frame, 4 bytes each.
const HEAD: u64 = 8;

/// No frame is longer: what claims to be is not a frame.
const LONGEST: u32 = 1 << 30;

/// Cells reach the disk at least this often; between that, a power cut may take some of them, a kill none.
const PATIENCE: Duration = Duration::from_secs(1);

/// Which experiment a cell is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Version of the program.
    pub version: String,
    /// The resolved scenario, seed included.
    pub scenario: String,
}

impl Origin {
    /// Refuses a file of cells of another experiment; one that was cut off before it said of which is none.
    ///
    /// # Errors
    /// If the file is of another experiment or version, or cannot be read.
    pub(super) fn check(&self, path: &Path) -> Result<(), CellsError> {
        first_origin(path)?.map_or(Ok(()), |origin| self.check_same(&origin, path))
    }

    /// Refuses cells of another experiment.
    fn check_same(&self, origin: &Self, path: &Path) -> Result<(), CellsError> {
        let remedy = "choose another directory with -o, or replace its results with --force";
        if origin.version != self.version {
            return Err(CellsError::Foreign(format!(
                "{}: was made by version {} of herdsim, this is {}\n  help: {remedy}",
                path.display(),
                origin.version,
                self.version
            )));
        }
        if origin.scenario == self.scenario {
            return Ok(());
        }
        let differs = |(old, new): &(&str, &str)| old.trim() != new.trim();
        let difference = origin.scenario.lines().zip(self.scenario.lines()).find(differs);
        let difference = difference.map_or(String::new(), |(old, new)| {
            format!("; the first difference is `{}`, which is `{}` now", old.trim(), new.trim())
        });
        Err(CellsError::Foreign(format!(
            "{}: was made from another scenario or seed{difference}\n  help: {remedy}",
            path.display()
        )))
    }
}

/// A point and a replication of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// The point of the sweep.
    pub point: u64,
    /// The replication.
    pub replication: u64,
}

/// The measuring window of a point whose warm-up or length is found by a pilot run, and what that run showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// The window.
    pub window: Window,
    /// What speaks against it.
    pub doubt: Option<String>,
}

#[derive(Serialize, Deserialize)]
enum Frame {
    Origin(Origin),
    Settled(u64, Settled),
    Cell(Cell, Box<Record>),
}

/// Why cells cannot be used.
#[derive(Debug)]
pub enum CellsError {
    /// The file is of another experiment, or of another version of the program.
    Foreign(String),
    /// Another run has the file.
    Busy(String),
    /// The file cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for CellsError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where a frame lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Of all files.
    file: usize,
    offset: u64,
    length: u32,
}

/// The cells of an experiment in one or more files, of which one may be written to.
#[derive(Debug)]
pub struct Cells {
    origin: Origin,
    files: Vec<(PathBuf, File)>,
    /// The file that is appended to, and where it ends.
    own: Option<(usize, u64)>,
    /// Cells that are kept in memory, where there is no file.
    memory: Option<Vec<Vec<u8>>>,
    cells: BTreeMap<Cell, Place>,
    settled: BTreeMap<u64, Settled>,
    synced: Instant,
}

impl Cells {
    /// No cells yet, and no file to write them to.
    pub fn none(origin: Origin) -> Self {
        Self {
            origin,
            files: Vec::new(),
            own: None,
            memory: None,
            cells: BTreeMap::new(),
            settled: BTreeMap::new(),
            synced: Instant::now(),
        }
    }

    /// No cells yet; those to come are kept in memory.
    pub fn in_memory(origin: Origin) -> Self {
        Self { memory: Some(Vec::new()), ..Self::none(origin) }
    }

    /// Adds a file that cells are appended to; what it holds already counts. It is locked while this lives.
    ///
    /// # Errors
    /// If another run has the file, it is of another experiment, or it cannot be read or written.
    pub fn append_to(&mut self, path: &Path) -> Result<(), CellsError> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        lock(&file, path)?;
        let number = self.files.len();
        let end = self.index(number, path, &file)?;
        // A frame that was cut off goes.
        file.set_len(end)?;
        self.files.push((path.to_owned(), file));
        self.own = Some((number, end));
        if end == 0 { self.begin() } else { Ok(()) }
    }

    /// Adds a file that cells are appended to, and drops what it holds.
    ///
    /// # Errors
    /// As for [`Self::append_to`].
    pub fn start(&mut self, path: &Path) -> Result<(), CellsError> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        lock(&file, path)?;
        file.set_len(0)?;
        self.own = Some((self.files.len(), 0));
        self.files.push((path.to_owned(), file));
        self.begin()
    }

    /// Writes what the cells to come are of.
    fn begin(&mut self) -> Result<(), CellsError> {
        self.write_frame(&Frame::Origin(self.origin.clone()))?;
        Ok(self.sync()?)
    }

    /// Of which experiment the cells of a file are.
    ///
    /// # Errors
    /// If the file cannot be read, or is none of cells.
    pub fn origin_of(path: &Path) -> Result<Origin, CellsError> {
        first_origin(path)?.ok_or_else(|| not_cells(path))
    }

    /// Of which experiment the cells are.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether no cell is there.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds the cells of a file that is only read.
    ///
    /// # Errors
    /// If the file is of another experiment or cannot be read.
    pub fn read_from(&mut self, path: &Path) -> Result<(), CellsError> {
        let file = File::open(path)?;
        self.index(self.files.len(), path, &file)?;
        self.files.push((path.to_owned(), file));
        Ok(())
    }

    /// Reads where the frames of a file lie, up to the end or to a frame that was cut off.
    fn index(&mut self, number: usize, path: &Path, file: &File) -> Result<u64, CellsError> {
        let length = file.metadata()?.len();
        let mut input = BufReader::new(file);
        input.seek(SeekFrom::Start(0))?;
        let mut magic = [0; MAGIC.len()];
        if length < MAGIC.len() as u64 {
            return Ok(0);
        }
        input.read_exact(&mut magic)?;
        if &magic != MAGIC {
            return Err(not_cells(path));
        }
        let mut offset = MAGIC.len() as u64;
        let mut known = false;
        while let Some(content) = read_frame(&mut input, length - offset)? {
            let place = Place { file: number, offset, length: content.len() as u32 };
            offset += HEAD + content.len() as u64;
            let broken = |_| CellsError::Foreign(format!("{}: is damaged at byte {}", path.display(), place.offset));
            match postcard::from_bytes(&content).map_err(broken)? {
                Frame::Origin(origin) => {
                    self.check_origin(&origin, path)?;
                    known = true;
                }
                Frame::Settled(point, settled) => drop(self.settled.insert(point, settled)),
                Frame::Cell(cell, _) => drop(self.cells.entry(cell).or_insert(place)),
            }
        }
        if offset < length {
            let lost = length - offset;
            let path = path.display();
            tracing::warn!("{path}: {lost} bytes at its end are damaged or cut off; the cells in them do not count");
        }
        // Whoever was killed before it wrote its origin has done nothing yet.
        Ok(if known { offset } else { 0 })
    }

    fn check_origin(&self, origin: &Origin, path: &Path) -> Result<(), CellsError> {
        self.origin.check_same(origin, path)
    }

    /// Whether a cell is there.
    pub fn has(&self, cell: Cell) -> bool {
        self.cells.contains_key(&cell)
    }

    /// The replications of a point that are there, in order.
    pub fn replications(&self, point: u64) -> impl Iterator<Item = Cell> + '_ {
        let of = |replication| Cell { point, replication };
        self.cells.range(of(0)..=of(u64::MAX)).map(|(&cell, _)| cell)
    }

    /// The window of a point, if a pilot run has found it.
    pub fn settled(&self, point: u64) -> Option<&Settled> {
        self.settled.get(&point)
    }

    /// Keeps a window.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn settle(&mut self, point: u64, settled: Settled) -> io::Result<()> {
        let frame = Frame::Settled(point, settled.clone());
        if self.own.is_some() {
            self.write_frame(&frame)?;
        }
        self.settled.insert(point, settled);
        Ok(())
    }

    /// Appends a finished cell.
    ///
    /// # Errors
    /// If it cannot be written; cells written before stay.
    pub fn append(&mut self, cell: Cell, record: Record) -> io::Result<()> {
        let place = self.write_frame(&Frame::Cell(cell, Box::new(record)))?;
        self.cells.insert(cell, place);
        if self.synced.elapsed() > PATIENCE {
            self.sync()?;
        }
        Ok(())
    }

    fn write_frame(&mut self, frame: &Frame) -> io::Result<Place> {
        if let Some(memory) = &mut self.memory {
            let content = postcard::to_stdvec(frame).map_err(io::Error::other)?;
            memory.push(content);
            return Ok(Place { file: 0, offset: memory.len() as u64 - 1, length: 0 });
        }
        let Some((number, end)) = self.own else { return Err(io::Error::other("there is no file to write cells to")) };
        let (path, file) = &mut self.files[number];
        let start = if end == 0 { MAGIC.len() as u64 } else { end };
        let content = postcard::to_stdvec(frame).map_err(io::Error::other)?;
        let length = u32::try_from(content.len()).ok().filter(|&length| length <= LONGEST);
        let length = length.ok_or_else(|| io::Error::other("a cell is too large to be written"))?;
        // One write: what a kill cuts off is the end of it.
        let mut bytes = if end == 0 { MAGIC.to_vec() } else { Vec::new() };
        bytes.extend(length.to_le_bytes());
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        bytes.extend(&content);
        let written = file.seek(SeekFrom::Start(end)).and_then(|_| file.write_all(&bytes));
        if let Err(error) = written {
            // Half a frame is of no use; if it stays, the next run drops it.
            let _ = file.set_len(end);
            return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
        }
        self.own = Some((number, end + bytes.len() as u64));
        Ok(Place { file: number, offset: start, length })
    }

    /// Sees to it that all cells are on the disk.
    ///
    /// # Errors
    /// If they are not.
    pub fn sync(&mut self) -> io::Result<()> {
        self.synced = Instant::now();
        let Some((number, _)) = self.own else { return Ok(()) };
        let (path, file) = &self.files[number];
        file.sync_data().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Reads a cell.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn read(&self, cell: Cell) -> io::Result<Record> {
        let missing = || io::Error::other(format!("{cell:?} is missing"));
        let place = self.cells.get(&cell).ok_or_else(missing)?;
        match postcard::from_bytes(&self.content(*place)?) {
            Ok(Frame::Cell(_, record)) => Ok(*record),
            _ => Err(missing()),
        }
    }

    fn content(&self, place: Place) -> io::Result<Vec<u8>> {
        if let Some(memory) = &self.memory {
            return Ok(memory[place.offset as usize].clone());
        }
        let (path, file) = &self.files[place.file];
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = file;
        file.seek(SeekFrom::Start(place.offset)).map_err(told)?;
        let frame = read_frame(&mut file, HEAD + u64::from(place.length)).map_err(told)?;
        frame.ok_or_else(|| told(io::Error::other("a cell is damaged")))
    }

    /// Writes all cells to one file in their order, so that the file does not tell which was finished first.
    ///
    /// # Errors
    /// If it cannot be written; the files there were stay.
    pub fn write_in_order(&self, path: &Path) -> io::Result<()> {
        let unfinished = path.with_extension("partial");
        let written = self.write_all(&unfinished).and_then(|()| fs::rename(&unfinished, path));
        written.map_err(|error| {
            let _ = fs::remove_file(&unfinished);
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })
    }

    fn write_all(&self, path: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        out.write_all(MAGIC)?;
        let mut write = |content: &[u8]| -> io::Result<()> {
            out.write_all(&(content.len() as u32).to_le_bytes())?;
            out.write_all(&crc32fast::hash(content).to_le_bytes())?;
            out.write_all(content)
        };
        let content = |frame| postcard::to_stdvec(&frame).map_err(io::Error::other);
        write(&content(Frame::Origin(self.origin.clone()))?)?;
        for (&point, settled) in &self.settled {
            write(&content(Frame::Settled(point, settled.clone()))?)?;
        }
        for place in self.cells.values() {
            write(&self.content(*place)?)?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

fn not_cells(path: &Path) -> CellsError {
    let remedy = "choose another directory with -o, or replace its results with --force";
    let told = format!("{}: holds no cells of this version of herdsim\n  help: {remedy}", path.display());
    CellsError::Foreign(told)
}

/// Of which experiment the cells of a file are; none if it was cut off before it said so.
fn first_origin(path: &Path) -> Result<Option<Origin>, CellsError> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(told)?;
    let length = file.metadata().map_err(told)?.len();
    let mut input = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    if length < MAGIC.len() as u64 {
        return Ok(None);
    }
    input.read_exact(&mut magic).map_err(told)?;
    if &magic != MAGIC {
        return Err(not_cells(path));
    }
    let Some(content) = read_frame(&mut input, length - MAGIC.len() as u64).map_err(told)? else { return Ok(None) };
    match postcard::from_bytes(&content) {
        Ok(Frame::Origin(origin)) => Ok(Some(origin)),
        _ => Err(not_cells(path)),
    }
}

fn lock(file: &File, path: &Path) -> Result<(), CellsError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(CellsError::Busy(format!("{}: another run writes there", path.display()))),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// The content of the next frame; `None` at the end, or where a frame was cut off.
fn read_frame(input: &mut impl Read, left: u64) -> io::Result<Option<Vec<u8>>> {
    if left < HEAD {
        return Ok(None);
    }
    let (mut length, mut checksum) = ([0; 4], [0; 4]);
    input.read_exact(&mut length)?;
    input.read_exact(&mut checksum)?;
    let length = u32::from_le_bytes(length);
    // No frame is empty: a file that a loss of power has left longer than what was written ends in zeros.
    if length == 0 || length > LONGEST || u64::from(length) > left - HEAD {
        return Ok(None);
    }
    let mut content = vec![0; length as usize];
    input.read_exact(&mut content)?;
    Ok((crc32fast::hash(&content) == u32::from_le_bytes(checksum)).then_some(content))
}
