// Puts the page of a capture together.
import { button, el, section, select } from "../dom";
import { present, themes, tiles } from "../frame";
import { bytes, count, share } from "../units";
import { Cells, type Choice, type Sums } from "./cells";
import { type CaptureReport, Frames, type Metric, spans } from "./data";
import { Flame } from "./flame";
import { bottomUp, type Paths, topDown } from "./paths";
import { Plot } from "./plot";
import { Sites } from "./sites";

const TITLES: [Metric, string][] = [
  ["peak", "at peak"], ["allocated", "allocated"], ["live", "live at the end"], ["temporary", "temporary"], ["count", "allocations"],
];

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as CaptureReport;
present(header(), el("main", {}, tiles(report.tiles, "summary"), ...explorer()), footer());

/** Time, call paths and table: what is chosen in one is shown by all. */
function explorer(): HTMLElement[] {
  const [frames, cells] = [new Frames(report), new Cells(report)];
  const choice: Choice = { from: 0, to: spans(report), thread: -1, tag: -1 };
  const trees: Partial<Record<string, Paths>> = {};
  let metric = report.metric;
  let direction = "down";
  let upwards = false;
  let sums = cells.sum(choice);

  const search = el("input", { type: "search", placeholder: "Search: method, file, gem   ( / )", "aria-label": "Search frames", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
  const found = el("p", { class: "found", role: "status" });
  const crumbs = el("nav", { class: "crumbs", "aria-label": "Place in the call paths" });
  const flame = new Flame(frames, () => lead());
  const amount = (value: number): string => (metric === "count" ? count(value) : bytes(value));
  const tree = (): Paths => (trees[direction] ??= direction === "down" ? topDown(report) : bottomUp(report));

  const lead = (): void => {
    const { way } = flame;
    crumbs.replaceChildren(...way.map((node, at) => {
      const name = frames.name(tree().frame[node]);
      return at === way.length - 1 ? el("b", {}, el("bdi", {}, name)) : button(el("bdi", {}, name), { class: "crumb" }, () => flame.go(node));
    }).slice(-8));
  };
  const draw = (): void => {
    const [paths, values, text] = [tree(), sums[metric], search.value.trim()];
    const matching = text === "" ? null : frames.matching(text);
    const totals = paths.totals(values);
    flame.show({ paths, totals, matching, upwards, amount, empty: "There are no such blocks in this part." });
    found.textContent = matching ? matched(values, totals[0], paths.hits(matching), matching) : `${amount(totals[0])} in all`;
    lead();
  };
  const matched = (values: Sums[Metric], whole: number, hits: Uint8Array, matching: Uint8Array): string => {
    const sum = values.reduce((total, value, row) => total + (hits[row] ? value : 0), 0);
    const number = matching.reduce((total, each) => total + each, 0);
    return `${count(number)} frame${number === 1 ? " matches" : "s match"}: ${amount(sum)} of ${amount(whole)} passed through, ${share(whole > 0 ? sum / whole : 0)}`;
  };
  const choose = (change: Partial<Choice>): void => {
    Object.assign(choice, change);
    sums = cells.sum(choice);
    sites.show(sums);
    draw();
  };

  search.addEventListener("input", draw);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
  const sites = new Sites(report, frames, (words) => { search.value = words; draw(); search.focus(); });
  const plot = new Plot(report, (from, to) => choose({ from, to }));
  const metrics = select("Show", TITLES, (key) => { metric = key as Metric; draw(); });
  const list = metrics.querySelector("select");
  if (list) list.value = metric;
  const toolbar = el("div", { class: "toolbar" }, search, metrics,
    select("Paths", [["down", "from callers down"], ["up", "from who allocated"]], (key) => { direction = key; draw(); }),
    select("As", [["", "icicle"], ["up", "flame graph"]], (key) => { upwards = key === "up"; draw(); }),
    which("Thread", "all threads", report.threads, report.rows.thread, (thread) => choose({ thread })),
    which("Tag", "all", report.tags, report.rows.tag, (tag) => choose({ tag })));
  sites.show(sums);
  draw();
  return [
    section("time", "Memory over time", plot.element),
    section("paths", "By call path", toolbar, found, crumbs, flame.detail, flame.element),
    sites.element,
  ];
}

/** A choice of those names that rows have; none where there is but one. */
function which(label: string, all: string, names: (string | null)[], used: number[], change: (number: number) => void): HTMLElement | false {
  const there = new Set(used);
  if (there.size < 2) return false;
  const choices = names.map((name, number): [string, string] => [String(number), name ?? (label === "Tag" ? "(no tag)" : "(other)")]);
  return select(label, [["-1", all], ...choices.filter(([number]) => there.has(Number(number)))], (key) => change(Number(key)));
}

function header(): HTMLElement {
  return el(
    "header", { class: "top" },
    el("div", {},
      el("h1", {}, el("span", { class: "mark" }, "heapline"), "recording ", el("code", {}, report.command)),
      el("p", { class: "note" }, report.facts.join(" · ")),
      ...report.notes.map((note) => el("p", { class: "warning" }, note))),
    themes(),
  );
}

function footer(): HTMLElement {
  return el("footer", {}, `Written by heapline ${report.version}. This page loads nothing and sends nothing.`);
}
