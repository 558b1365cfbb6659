//! The report in headless Chromium: drawn, clicked, narrowed and darkened. Skipped with a word where there is none.

use super::figures::{drawn, empty, page};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Listens before the page's own script runs.
const BEFORE: &str = include_str!("before.js");

/// Uses the page as a reader would, and writes down what it finds.
const AFTER: &str = include_str!("after.js");

/// The browser, if there is one: `HERDSIM_CHROMIUM`, or what systems call it.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("HERDSIM_CHROMIUM").map(PathBuf::from);
    let folders: Vec<PathBuf> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let installed = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.into_iter().chain(installed).find(|path| path.is_file())
}

/// Shows the page in a frame of the width asked for, since windows have a least width, and writes down what it tells.
const FRAME: &str = "<!doctype html><meta charset=utf-8><iframe src=watched.html style='border:0;height:844px;width:";

const LISTEN: &str = "px'></iframe><script>addEventListener('message', (event) => {
  const pre = document.createElement('pre');
  pre.id = 'findings';
  pre.textContent = event.data;
  document.body.append(pre);
});</script>";

/// What the browser says of a page: its document after a while, and its log.
fn browse(browser: &Path, page: &Path, options: &[&str]) -> (String, String) {
    let profile = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"])
        .args(["--disable-component-update", "--no-first-run", "--enable-logging=stderr", "--dump-dom"])
        .args(["--virtual-time-budget=10000", "--window-size=1500,1000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null());
    let (document, log) = (profile.path().join("document"), profile.path().join("log"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut child = command.stdout(file(&document)).stderr(file(&log)).spawn().expect("the browser starts");
    let started = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        if started.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
            panic!("the browser does not come to an end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect("it was written")).into_owned();
    (text(&document), text(&log))
}

/// What the script found, and nothing in the log of the page.
fn findings(browser: &Path, folder: &Path, width: u32, options: &[&str]) -> Value {
    let page = folder.join(format!("frame-{width}.html"));
    std::fs::write(&page, format!("{FRAME}{width}{LISTEN}")).expect("it can be written");
    let (document, log) = browse(browser, &page, options);
    let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "the console is not empty: {said:?}");
    let found = document.split_once("<pre id=\"findings\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((json, _)) = found else { panic!("no findings in the document: {log}") };
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let value: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(value["errors"], serde_json::json!([]), "errors in the page");
    assert_eq!(value["images"], 0, "an element came out of a text");
    value
}

/// The brightness of a colour as the browser tells it: `rgb(20, 23, 26)`.
fn brightness(colour: &Value) -> f64 {
    let numbers = colour.as_str().expect("a colour").trim_start_matches("rgb(").trim_end_matches(')');
    numbers.split(',').map(|part| part.trim().parse::<f64>().expect("a number")).sum::<f64>() / 3.0
}

#[test]
fn the_report_works_in_a_browser() {
    let Some(browser) = chromium() else {
        // Not by a macro whose words tests keep to themselves.
        let _ = writeln!(std::io::stderr(), "skipped: no Chromium here; install it or name it in HERDSIM_CHROMIUM");
        return;
    };
    let mut figures = drawn();
    let full = figures.len();
    figures.extend(empty());
    let text = page(&figures);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).expect("a folder");
    // To be looked at.
    std::fs::write(folder.join("plain.html"), &text).expect("it can be written");
    let watched = text.replacen("<head>", &format!("<head><script>{BEFORE}</script>"), 1);
    let watched = watched.replacen("</body>", &format!("<script>{AFTER}</script></body>"), 1);
    std::fs::write(folder.join("watched.html"), watched).expect("it can be written");

    let wide = findings(&browser, &folder, 1400, &[]);
    let charts = wide["charts"].as_array().expect("charts");
    assert_eq!(charts.len(), figures.len());
    for (i, chart) in charts.iter().enumerate() {
        let name = &figures[i].name;
        if i < full {
            assert!(chart["shapes"].as_u64() > Some(0) && chart["says"] == "", "{name}: {chart}");
        } else {
            let says = chart["says"].as_str().expect("a text");
            assert!(says.starts_with("no data"), "{name}: {chart}");
        }
    }
    let legend = &wide["legend"];
    assert_eq!(
        legend["pressed"],
        serde_json::json!(["true", "false", "true"]),
        "the legend's buttons tell their state"
    );
    assert_eq!(legend["changed"], true, "a click on the legend changes the chart");
    assert_eq!(legend["restored"], true, "another restores it");
    assert_eq!(legend["picture"], true, "a click takes a picture away");
    assert_eq!(wide["log"], true, "the log switch changes the chart");
    assert!(wide["hover"].as_str().is_some_and(|tip| tip.contains("two choices: 0.9")), "{}", wide["hover"]);
    assert!(wide["keys"].as_str().is_some_and(|tip| tip.contains("k (jobs): 1")), "{}", wide["keys"]);
    assert!(wide["cell"].as_str().is_some_and(|tip| tip.contains("queue length (jobs)")), "{}", wide["cell"]);
    let data = wide["data"].as_str().expect("the download");
    assert!(data.starts_with("series,kind,k (jobs),value (mean service times),low,high\n"), "{data}");
    assert!(data.contains("two choices,estimates,1,0.9,"), "{data}");
    assert!(wide["rows"].as_u64() > Some(10), "data as a table: {}", wide["rows"]);
    assert_eq!(wide["more"], true, "all rows of the table can be shown");
    assert!(brightness(&wide["ground"]) > 200.0 && brightness(&wide["ink"]) < 60.0, "light by day");

    let narrow = findings(&browser, &folder, 390, &[]);
    assert_eq!(narrow["width"], 390);
    assert_eq!(narrow["beyond"], serde_json::json!([]), "nothing is wider than a phone");
    assert!(narrow["scroll"].as_u64() <= Some(390), "the page does not scroll sideways: {}", narrow["scroll"]);
    assert!(narrow["letters"].as_f64() >= Some(11.0), "letters of charts can be read: {}", narrow["letters"]);

    let dark = findings(&browser, &folder, 1400, &["--blink-settings=preferredColorScheme=0"]);
    assert!(brightness(&dark["ground"]) < 60.0 && brightness(&dark["ink"]) > 200.0, "dark by night: {dark}");
    assert_ne!(dark["line"], wide["line"], "lines have colours for dark ground");
}
