// Puts the page of a capture together.
import { el, select } from "../dom";
import { present, themes, tiles } from "../frame";
import type { CaptureReport, View } from "./data";
import { explorer, NOUNS, type State } from "./explorer";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as CaptureReport;
const state: State = { metric: report.metric, direction: "down", upwards: false, search: "", from: -Infinity, to: Infinity };
const main = el("main");
show(report.views[0]);
present(header(), main, footer());
document.addEventListener("keydown", (event) => {
  const search = main.querySelector<HTMLInputElement>("#paths input[type=search]");
  if (event.key !== "/" || event.target instanceof HTMLInputElement || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
});

function show(view: View): void {
  const notes = view.notes.map((note) => el("p", { class: "warning" }, note));
  main.replaceChildren(tiles(view.tiles, "summary"), ...notes, ...explorer(report, view, state, others(view)));
}

/** Blocks or objects, where there are both. */
function others(now: View): HTMLElement | false {
  if (report.views.length < 2) return false;
  const kinds = report.views.map(({ kind }): [string, string] => [kind, NOUNS[kind]]);
  const made = select("Of", kinds, (key) => {
    show(report.views.find(({ kind }) => kind === key) ?? now);
    main.querySelector<HTMLSelectElement>("#paths .of select")?.focus({ preventScroll: true });
  }, now.kind);
  made.classList.add("of");
  return made;
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
