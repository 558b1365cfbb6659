//! Tables: every format holds the same rows, whatever is in them, and is whole when there are none.

mod reading;
mod samples;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use herdsim::output::{COMPARISON, Comparison, Format, OfPoint, ResponseLog, Results, TABLES, Table, TableWriter};
use herdsim::scenario::{Axis, Kind, Label};
#[cfg(feature = "parquet")]
use reading::parquet_file;
use reading::{Cell, names, read, read_csv};
use samples::{NUMBERS, TEXTS, axes, comparison, estimate, results};
use std::io::{self, Write};

fn written<S: OfPoint>(table: &'static Table<S>, format: Format, axes: &[Axis], sources: &[S]) -> Vec<u8> {
    let mut writer = TableWriter::new(table, format, axes, Vec::new()).expect("the table begins");
    sources.iter().for_each(|source| writer.add(source).expect("the point is added"));
    writer.finish().expect("the table is complete")
}

/// Real numbers in JSON are read by a parser that may be off in the last place.
fn nearly(read: &Cell, exact: &Cell) -> bool {
    matches!((read, exact), (Cell::Real(read), Cell::Real(exact)) if read.abs_diff(*exact) <= 1) || read == exact
}

/// Checks that every format gives back the same names and cells.
fn assert_same_in_all<S: OfPoint>(
    table: &'static Table<S>,
    axes: &[Axis],
    sources: &[S],
    rows: usize,
) -> Vec<Vec<Cell>> {
    let schema = table.schema(axes);
    let (header, cells) = read_csv(&written(table, Format::Csv, axes, sources), &schema);
    assert_eq!(header, names(&schema));
    assert_eq!(cells.len(), rows, "{}", table.name);
    for &format in Format::ALL {
        let bytes = written(table, format, axes, sources);
        assert!(bytes == written(table, format, axes, sources), "{} repeats in {format}", table.name);
        let (names, read) = read(format, &bytes, &schema);
        assert_eq!(names, header, "{} in {format}", table.name);
        assert_eq!(read.len(), rows, "{} in {format}", table.name);
        let same = |read: &Cell, exact: &Cell| if format == Format::Json { nearly(read, exact) } else { read == exact };
        for (read, exact) in read.iter().zip(&cells) {
            assert!(
                read.len() == exact.len() && read.iter().zip(exact).all(|(read, exact)| same(read, exact)),
                "{} in {format}: {read:?} is not {exact:?}",
                table.name
            );
        }
    }
    cells
}

#[test]
fn all_formats_hold_the_same() {
    let points: Vec<Results> = (0..13).map(|point| results(point, true)).collect();
    let rows = [39, 26, 26, 39, 26, 52];
    for (table, rows) in TABLES.iter().zip(rows) {
        let cells = assert_same_in_all(table, &axes(), &points, rows);
        let per_point = rows / points.len();
        for (i, row) in cells.iter().enumerate() {
            let point = i / per_point;
            let text = TEXTS[point % TEXTS.len()].to_owned();
            let expected = [
                Cell::Integer(point as i64),
                Cell::Real(NUMBERS[point % NUMBERS.len()].to_bits()),
                Cell::Integer(10_i64.pow(point as u32)),
                Cell::Text(text),
            ];
            assert_eq!(row[..4], expected, "{}", table.name);
        }
        assert_same_in_all(table, &[], &[results(0, false)], per_point);
    }
    let comparisons: Vec<Comparison> = (0..13).map(comparison).collect();
    let cells = assert_same_in_all(&COMPARISON, &axes(), &comparisons, 13);
    assert_eq!(cells[0][8], Cell::Missing);
    assert_eq!(cells[2][8], Cell::Real(NUMBERS[2].to_bits()));
}

#[test]
fn what_was_given_is_what_is_read() {
    let points: Vec<Results> = (0..13).map(|point| results(point, true)).collect();
    let table = &TABLES[0];
    let (_, cells) = read_csv(&written(table, Format::Csv, &axes(), &points), &table.schema(&axes()));
    for (row, given) in cells.iter().zip(points.iter().flat_map(|results| &results.estimates)) {
        let real = |value: Option<f64>| value.map_or(Cell::Missing, |value| Cell::Real(value.to_bits()));
        let expected = [
            Cell::Text(given.metric.name().to_owned()),
            Cell::Text(given.key.clone()),
            real(given.estimate),
            real(given.low),
            real(given.high),
            real(given.std_error),
            Cell::Integer(given.replications as i64),
            Cell::Missing,
        ];
        assert_eq!(row[4..12], expected);
    }
}

#[test]
fn a_table_without_rows_is_whole() {
    for table in &TABLES {
        assert_same_in_all(table, &axes(), &[], 0);
        assert_same_in_all(table, &[], &[], 0);
    }
    assert_same_in_all(&COMPARISON, &[], &[], 0);
    // A point may have no rows either.
    let bare = Results { time_course: None, response: None, ..results(0, false) };
    let trajectory = TABLES.iter().find(|table| table.name == "trajectory").expect("there is one");
    assert_same_in_all(trajectory, &[], &[bare], 0);
}

#[test]
fn csv_without_a_sweep_has_one_line_per_row() {
    let text = |table| String::from_utf8(written(table, Format::Csv, &[], &[results(0, false)])).expect("UTF-8");
    let expected = [
        "point,metric,key,estimate,low,high,std_error,replications,theory,theory_kind\n\
         0,tail_fraction,\"a, b\",,-0.3333333333333333,5e-324,,0,,exact\n\
         0,tail_fraction_variance,\"say \"\"so\"\"\",-0.3333333333333333,5e-324,,1e16,1,,exact\n\
         0,squared_distance,\"two\nlines\r\n\",5e-324,,1e16,-0.0,2,,exact\n",
        "point,replication,metric,key,value\n0,0,mean_jobs,,1.5\n0,1,mean_jobs,,\n",
        "point,k,low,high,fraction_of_time\n0,1,0.2,0.2,0.75\n0,1,0.3,0.3,0.25\n",
        "point,low,high,count,cumulative_fraction\n\
         0,0.0,0.125,1,0.25\n0,0.875,1.125,2,0.75\n0,2.375,2.625,1,1.0\n",
        "point,time,metric,key,estimate,std_error,replications\n\
         0,0.0,tail_fraction,1,,,2\n0,0.5,tail_fraction,1,0.75,,2\n",
        "point,time,server,jobs\n0,0.0,3,1\n0,0.0,7,0\n0,0.5,3,2\n0,0.5,7,4294967295\n",
    ];
    for (table, expected) in TABLES.iter().zip(expected) {
        assert_eq!(text(table), expected);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_schema_of_the_table() {
    for table in &TABLES {
        assert_eq!(parquet_file::schema(&written(table, Format::Parquet, &axes(), &[])), table.schema(&axes()));
    }
    assert_eq!(parquet_file::schema(&written(&COMPARISON, Format::Parquet, &[], &[])), COMPARISON.schema(&[]));
}

#[cfg(feature = "parquet")]
#[test]
fn many_points_fill_several_row_groups() {
    use parquet::file::reader::FileReader;
    let table = &TABLES[0];
    let axis = Axis { key: "load".to_owned(), kind: Kind::Real };
    let mut writer = TableWriter::new(table, Format::Parquet, std::slice::from_ref(&axis), Vec::new()).expect("begun");
    let points = 1100;
    for point in 0..points {
        let estimates = (0..60).map(|i| estimate(60 * point + i)).collect();
        let labels = vec![Label::Real(point as f64 / 1100.0)];
        writer.add(&Results { point, labels, estimates, ..results(0, false) }).expect("added");
    }
    let bytes = writer.finish().expect("complete");
    let file = parquet_file::open(&bytes);
    let metadata = file.metadata();
    assert_eq!(metadata.file_metadata().num_rows(), 60 * points as i64);
    assert_eq!(metadata.file_metadata().created_by(), Some(concat!("herdsim ", env!("CARGO_PKG_VERSION"))));
    assert_eq!(metadata.num_row_groups(), 3);
    let (_, rows) = parquet_file::read(&bytes);
    for (i, row) in rows.iter().enumerate() {
        let point = i as u64 / 60;
        assert_eq!(row[0], Cell::Integer(point as i64));
        assert_eq!(row[1], Cell::Real((point as f64 / 1100.0).to_bits()));
        assert_eq!(row[8], Cell::Integer(i as i64));
    }
}

#[test]
fn numbers_that_are_not_finite_are_missing_or_refused() {
    let mut odd = results(0, false);
    odd.estimates[0].estimate = Some(f64::NAN);
    odd.estimates[0].low = Some(f64::NEG_INFINITY);
    let cells = assert_same_in_all(&TABLES[0], &[], &[odd.clone()], 3);
    assert_eq!(cells[0][3..5], [Cell::Missing, Cell::Missing]);
    // Where nothing may be missing it is an error.
    odd.time_course.as_mut().expect("there is one").times[0] = f64::INFINITY;
    for &format in Format::ALL {
        let mut writer = TableWriter::new(&TABLES[4], format, &[], Vec::new()).expect("begun");
        let error = writer.add(&odd).expect_err("there is no such time");
        assert!(error.kind() == io::ErrorKind::InvalidData && error.to_string().contains("`time`"), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for &format in Format::ALL {
        let begin = |axes: &[Axis]| TableWriter::new(&TABLES[0], format, axes, Vec::new());
        let axis = |key: &str, kind| Axis { key: key.to_owned(), kind };
        let twice = begin(&[axis("load", Kind::Real), axis("load", Kind::Real)]).err().expect("two columns of a name");
        assert!(twice.to_string().contains("`load`"), "{twice}");
        assert!(begin(&[axis("estimate", Kind::Real)]).is_err());
        let add = |axes: &[Axis], labels| {
            let point = Results { labels, ..results(7, false) };
            begin(axes).expect("begun").add(&point).expect_err("the labels are wrong").to_string()
        };
        assert!(add(&[], vec![Label::Integer(1)]).contains("point 7"));
        assert!(add(&axes(), vec![Label::Real(0.5)]).contains("point 7"));
        assert!(add(&[axis("load", Kind::Real)], vec![Label::Integer(1)]).contains("`load`"));
        let mut large = results(0, false);
        large.estimates[0].replications = u64::MAX;
        let error = begin(&[]).expect("begun").add(&large).expect_err("it is too large").to_string();
        assert!(error.contains("replications") && error.contains("63 bits"), "{error}");
    }
}

/// A disk with room for some bytes.
struct Disk {
    room: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_as_such() {
    for &format in Format::ALL {
        let length = written(&TABLES[0], format, &[], &[results(0, false)]).len();
        for room in 0..length {
            let all = TableWriter::new(&TABLES[0], format, &[], Disk { room }).and_then(|mut writer| {
                writer.add(&results(0, false))?;
                writer.finish()
            });
            assert_eq!(all.err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull), "{format}: {room}");
        }
    }
}

#[test]
fn formats_have_names() {
    for &format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "xlsx".parse::<Format>().expect_err("there is no such format").to_string();
    assert!(error.contains("xlsx") && error.contains("csv, json"), "{error}");
}

#[test]
fn the_log_has_a_tagged_histogram_per_point() {
    let log = |points: &[Results], swept| {
        let mut log = ResponseLog::new(Vec::new(), swept).expect("begun");
        points.iter().for_each(|results| log.add(results).expect("added"));
        log.finish().expect("complete")
    };
    let tags = |bytes: &[u8]| -> Vec<Option<String>> {
        IntervalLogIterator::new(bytes)
            .filter_map(|entry| match entry.expect("an entry") {
                LogEntry::Interval(interval) => Some(interval.tag().map(|tag| tag.as_str().to_owned())),
                _ => None,
            })
            .collect()
    };
    let points: Vec<Results> = [0, 3, 20].map(|point| results(point, true)).into();
    let expected = ["point_0", "point_3", "point_20"].map(|tag| Some(tag.to_owned()));
    assert_eq!(tags(&log(&points, true)), expected);
    assert_eq!(tags(&log(&[results(0, false)], false)), [None]);
    assert_eq!(tags(&log(&[], true)), []);
}
