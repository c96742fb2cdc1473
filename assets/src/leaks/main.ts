// Puts the page of a search for lost blocks together.
import { button, el, section, select } from "../dom";
import { present, themes, tiles } from "../frame";
import { bytes, count } from "../units";
import { KINDS, type Kind, type LeakReport, Records, TITLES } from "./data";
import { type Group, GROUPS, groups, list } from "./list";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as LeakReport;
const records = new Records(report);
const straws = Array.from({ length: records.count }, (_, record) => records.straw(record));
present(header(), el("main", {}, tiles(report.tiles, "summary"), explorer()), footer());

/** Filter, classes and groups; below them what is left. */
function explorer(): HTMLElement {
  let words: string[] = [];
  let kind: Kind | "" = "";
  let library = "";
  let group: Group | "" = "";
  const found = el("p", { class: "found", "aria-live": "polite" });
  const room = el("div");
  const draw = (): void => {
    const shown = Array.from(straws.keys()).filter((record) => (kind === "" || records.kind(record) === kind) &&
      (library === "" || records.frames(record).some((frame) => frame.library === library)) && words.every((word) => straws[record].includes(word)));
    const sum = shown.reduce((total, record) => total + records.figure(record, "bytes"), 0);
    found.textContent = `${shown.length === records.count ? "" : `${count(shown.length)} of `}${count(records.count)} records, ${bytes(sum)}`;
    room.replaceChildren(shown.length === 0 ? el("p", { class: "empty" }, records.count === 0 ? "No block is lost." : "No record has all of these words.") : group ? groups(records, shown, group) : list(records, shown));
  };
  const filter = el("input", { type: "search", placeholder: "Filter by function, file, library or line   ( / )", "aria-label": "Filter" });
  filter.addEventListener("input", () => { words = filter.value.toLowerCase().split(/\s+/).filter(Boolean); draw(); });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    filter.focus();
  });
  const libraries = [...new Set(Array.from(straws.keys()).flatMap((record) => records.frames(record).map((frame) => frame.library)))].filter(Boolean).sort();
  const toolbar = el("div", { class: "toolbar" }, filter,
    select("Through", [["", "any library"], ...libraries.map((name): [string, string] => [name, name])], (key) => { library = key; draw(); }),
    select("Show by", GROUPS, (key) => { group = key as Group | ""; draw(); }));
  const chosen = kinds((key) => { kind = key; draw(); });
  draw();
  return section("records", "Records", report.dropped.length > 0 && el("p", { class: "note" }, `Not shown: ${report.dropped.join("; ")}`), toolbar, chosen, found, room);
}

/** A button for each class that there is: a click shows it alone, a second one all. */
function kinds(change: (kind: Kind | "") => void): HTMLElement {
  const there = KINDS.filter((kind) => Array.from(straws.keys()).some((record) => records.kind(record) === kind));
  const made = there.map((kind) => button(TITLES[kind], { class: `badge loss-${kind}`, "aria-pressed": "false" }, () => {
    const on = made[there.indexOf(kind)].getAttribute("aria-pressed") === "true";
    made.forEach((each, at) => each.setAttribute("aria-pressed", String(!on && there[at] === kind)));
    change(on ? "" : kind);
  }));
  return el("div", { class: "verdicts", role: "group", "aria-label": "Class of loss" }, ...made);
}

function header(): HTMLElement {
  return el(
    "header", { class: "top" },
    el("div", {},
      el("h1", {}, el("span", { class: "mark" }, "heapline"), "lost blocks ", el("code", {}, report.title)),
      ...report.facts.map((fact) => el("p", { class: "note" }, fact)),
      ...report.notes.map((note) => el("p", { class: "warning" }, note))),
    themes(),
  );
}

function footer(): HTMLElement {
  const left = report.left_out > 0 ? ` ${count(report.left_out)} smaller records were left out when it was written.` : "";
  return el("footer", {}, `Written by heapline ${report.version}. This page loads nothing and sends nothing.${left}`);
}
