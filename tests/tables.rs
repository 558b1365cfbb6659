//! Tables: every format holds the same rows, whatever is in them, and is whole when there are none.

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use herdsim::measure::{DelayHistogram, Metric, Reading, TimeHistogram};
use herdsim::output::{
    Axis, COMPARISON, Comparison, Curve, Estimate, Field, Format, Jobs, Kind, Label, Manifest, Mean, OfPoint,
    Replication, ResponseLog, Results, TABLES, Table, TableWriter, TimeCourse,
};
use std::io::{self, Write};

/// A value as any format holds it. A real number is its bits: formats must not round.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Missing,
    Integer(i64),
    Real(u64),
    Text(String),
}

/// Texts that break careless writers.
const TEXTS: [&str; 6] = ["plain", "a, b", "say \"so\"", "two\nlines\r\n", "", "\u{3b2} \u{1f40e}"];

/// Numbers that need all their digits.
const NUMBERS: [f64; 6] = [0.1, -1.0 / 3.0, 5e-324, f64::MAX, 1e16, -0.0];

fn axes() -> Vec<Axis> {
    let axis = |key: &str, kind| Axis { key: key.to_owned(), kind };
    vec![axis("load", Kind::Real), axis("servers", Kind::Integer), axis("policy.dispatch", Kind::Text)]
}

fn labels(point: u64) -> Vec<Label> {
    let i = point as usize;
    vec![
        Label::Real(NUMBERS[i % NUMBERS.len()]),
        Label::Integer(10_i64.pow(point as u32 % 18)),
        Label::Text(TEXTS[i % TEXTS.len()].to_owned()),
    ]
}

fn manifest() -> Manifest {
    Manifest {
        version: String::new(),
        name: "example".to_owned(),
        seed: 1,
        engine: "event".to_owned(),
        started: String::new(),
        duration_seconds: 0.0,
        replications_requested: 2,
        replications: 2,
        window_open: 200.0,
        window_close: 2200.0,
        confidence: 0.95,
        interval_method: String::new(),
        tick: 0.25,
        arrival_rate: 9.0,
        service_rate: 10.0,
        load: 0.9,
        jobs: Jobs::default(),
        warnings: Vec::new(),
    }
}

/// Estimates with and without values, among them texts and numbers that are hard to write.
fn estimate(i: u64) -> Estimate {
    let number = |shift: u64| (!(i + shift).is_multiple_of(3)).then(|| NUMBERS[(i + shift) as usize % NUMBERS.len()]);
    Estimate {
        metric: Metric::ALL[i as usize % Metric::ALL.len()],
        key: TEXTS[(i + 1) as usize % TEXTS.len()].to_owned(),
        estimate: number(0),
        low: number(1),
        high: number(2),
        std_error: number(3),
        replications: i,
        theory: None,
    }
}

fn results(point: u64, swept: bool) -> Results {
    let mut occupancy = TimeHistogram::default();
    occupancy.add(2, 3.0);
    occupancy.add(point + 3, 1.0);
    let mut response = DelayHistogram::new(0.25);
    [0.0, 1.0, 1.0, point as f64 + 2.5].iter().for_each(|&delay| response.add(delay));
    let reading = |value| Reading { metric: Metric::MeanJobs, key: String::new(), value };
    let replications = [Some(1.5), None]
        .into_iter()
        .zip(0..)
        .map(|(value, replication)| Replication { replication, readings: vec![reading(value)] });
    let mean = |estimate| Mean { estimate, std_error: None, replications: 2 };
    Results {
        point,
        labels: if swept { labels(point) } else { Vec::new() },
        scenario_yaml: String::new(),
        manifest: manifest(),
        estimates: (0..3).map(|i| estimate(3 * point + i)).collect(),
        replications: replications.collect(),
        servers: 10,
        occupancy: vec![occupancy],
        response: Some(response),
        time_course: Some(TimeCourse {
            times: vec![0.0, 0.5],
            curves: vec![Curve {
                metric: Metric::TailFraction,
                key: "1".to_owned(),
                means: vec![mean(None), mean(Some(0.75))],
            }],
        }),
    }
}

fn comparison(point: u64) -> Comparison {
    let i = point as usize;
    let number = |shift: usize| (!(i + shift).is_multiple_of(4)).then(|| NUMBERS[(i + shift) % NUMBERS.len()]);
    Comparison {
        point,
        labels: labels(point),
        policy: TEXTS[(i + 1) % TEXTS.len()].to_owned(),
        baseline: TEXTS[(i + 2) % TEXTS.len()].to_owned(),
        metric: Metric::ResponseTimeMean,
        key: String::new(),
        difference: number(0),
        difference_low: number(1),
        difference_high: number(2),
        difference_std_error: number(3),
        ratio: number(4),
        ratio_low: number(5),
        ratio_high: number(6),
        unpaired_half_width: number(7),
        saving: number(8),
        replications: point,
    }
}

fn written<S: OfPoint>(table: &'static Table<S>, format: Format, axes: &[Axis], sources: &[S]) -> Vec<u8> {
    let mut writer = TableWriter::new(table, format, axes, Vec::new()).expect("the table begins");
    sources.iter().for_each(|source| writer.add(source).expect("the point is added"));
    writer.finish().expect("the table is complete")
}

/// Reads a table back: names, and cells by the kinds of the schema.
fn read(format: Format, bytes: &[u8], schema: &[Field]) -> (Vec<String>, Vec<Vec<Cell>>) {
    match format {
        Format::Csv => read_csv(bytes, schema),
        Format::Json => (names(schema), read_json(bytes, schema)),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet_file::read(bytes),
    }
}

fn names(schema: &[Field]) -> Vec<String> {
    schema.iter().map(|field| field.name.clone()).collect()
}

fn read_csv(bytes: &[u8], schema: &[Field]) -> (Vec<String>, Vec<Vec<Cell>>) {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let cell = |(text, field): (&str, &Field)| match field.kind {
        Kind::Text => Cell::Text(text.to_owned()),
        _ if text.is_empty() => Cell::Missing,
        Kind::Integer => Cell::Integer(text.parse().expect("an integer")),
        Kind::Real => Cell::Real(text.parse::<f64>().expect("a number").to_bits()),
    };
    let rows = reader.records().map(|row| row.expect("a row").iter().zip(schema).map(cell).collect());
    (header, rows.collect())
}

fn read_json(bytes: &[u8], schema: &[Field]) -> Vec<Vec<Cell>> {
    let rows: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(bytes).expect("strict JSON");
    let cell = |field: &Field, value: &serde_json::Value| match (field.kind, value) {
        (_, serde_json::Value::Null) => Cell::Missing,
        (Kind::Integer, value) => Cell::Integer(value.as_i64().expect("an integer")),
        (Kind::Real, value) => Cell::Real(value.as_f64().expect("a number").to_bits()),
        (Kind::Text, value) => Cell::Text(value.as_str().expect("a text").to_owned()),
    };
    rows.iter()
        .map(|row| {
            assert!(row.keys().eq(schema.iter().map(|field| &field.name)), "{row:?}");
            schema.iter().map(|field| cell(field, &row[&field.name])).collect()
        })
        .collect()
}

#[cfg(feature = "parquet")]
mod parquet_file {
    use super::Cell;
    use herdsim::output::{Field, Kind};
    use parquet::basic::{LogicalType, Repetition, Type};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field as Value;
    use std::io::Write;

    pub(crate) fn open(bytes: &[u8]) -> SerializedFileReader<std::fs::File> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        SerializedFileReader::new(file).expect("a Parquet file")
    }

    pub(crate) fn read(bytes: &[u8]) -> (Vec<String>, Vec<Vec<Cell>>) {
        let file = open(bytes);
        let header = file.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name().to_owned());
        let cell = |value: &Value| match value {
            Value::Null => Cell::Missing,
            Value::Long(value) => Cell::Integer(*value),
            Value::Double(value) => Cell::Real(value.to_bits()),
            Value::Str(value) => Cell::Text(value.clone()),
            other => panic!("{other:?} is of a type that no column has"),
        };
        let rows = file.get_row_iter(None).expect("rows");
        let rows = rows.map(|row| row.expect("a row").get_column_iter().map(|(_, value)| cell(value)).collect());
        (header.collect(), rows.collect())
    }

    pub(crate) fn schema(bytes: &[u8]) -> Vec<Field> {
        let file = open(bytes);
        let fields = file.metadata().file_metadata().schema().get_fields();
        let kind = |field: &parquet::schema::types::Type| match (
            field.get_physical_type(),
            field.get_basic_info().logical_type_ref(),
        ) {
            (Type::INT64, None) => Kind::Integer,
            (Type::DOUBLE, None) => Kind::Real,
            (Type::BYTE_ARRAY, Some(LogicalType::String)) => Kind::Text,
            other => panic!("{other:?}"),
        };
        fields
            .iter()
            .map(|field| Field {
                name: field.name().to_owned(),
                kind: kind(field),
                nullable: field.get_basic_info().repetition() == Repetition::OPTIONAL,
            })
            .collect()
    }
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
    let rows = [39, 26, 26, 39, 26];
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
        assert_eq!(row[4..], expected);
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
    assert!(!(trajectory.is_wanted)(&bare));
    assert_same_in_all(trajectory, &[], &[bare], 0);
}

#[test]
fn csv_without_a_sweep_has_one_line_per_row() {
    let text = |table| String::from_utf8(written(table, Format::Csv, &[], &[results(0, false)])).expect("UTF-8");
    let expected = [
        "point,metric,key,estimate,low,high,std_error,replications,theory\n\
         0,tail_fraction,\"a, b\",,-0.3333333333333333,5e-324,,0,\n\
         0,tail_fraction_variance,\"say \"\"so\"\"\",-0.3333333333333333,5e-324,,1e16,1,\n\
         0,mean_jobs,\"two\nlines\r\n\",5e-324,,1e16,-0.0,2,\n",
        "point,replication,metric,key,value\n0,0,mean_jobs,,1.5\n0,1,mean_jobs,,\n",
        "point,k,low,high,fraction_of_time\n0,1,0.2,0.2,0.75\n0,1,0.3,0.3,0.25\n",
        "point,low,high,count,cumulative_fraction\n\
         0,0.0,0.125,1,0.25\n0,0.875,1.125,2,0.75\n0,2.375,2.625,1,1.0\n",
        "point,time,metric,key,estimate,std_error,replications\n\
         0,0.0,tail_fraction,1,,,2\n0,0.5,tail_fraction,1,0.75,,2\n",
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
