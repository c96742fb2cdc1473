// Puts the page of a heap dump together.
import { el } from "../dom";
import { present, slash, themes, tiles } from "../frame";
import { type HeapReport, Nodes } from "./data";
import { Detail } from "./detail";
import { type Chosen, maps } from "./maps";
import { kinds } from "./rows";
import { CLASS, Tables } from "./tables";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as HeapReport;
present(header(), el("main", {}, tiles(report.tiles, "summary"), ...explorer()), footer());

/** Treemaps, tables and detail: what is chosen in one is shown by the others. */
function explorer(): HTMLElement[] {
  const nodes = new Nodes(report);
  let fromTable = false;
  const detail = new Detail(nodes, report.total, (node) => { if (fromTable) tables.focus(nodes.holders.indexOf(node)); });
  const open = (node: number, table: boolean): void => {
    fromTable = table;
    detail.open(node);
  };
  const chosen: Chosen = {
    node: (node) => open(node, false),
    class: (name) => lead("holders", CLASS + name),
    line: (location) => lead("lines", location),
  };
  const tables = new Tables(kinds(report, nodes, { ...chosen, node: (node) => open(node, true) }));
  const lead = (key: string, words: string): void => {
    tables.show(key, words);
    tables.focusFilter();
  };
  slash(detail.element, () => tables.focusFilter());
  return [maps(report, nodes, chosen), tables.element, detail.element];
}

function header(): HTMLElement {
  return el(
    "header", { class: "top" },
    el("div", {},
      el("h1", {}, el("span", { class: "mark" }, "heapline"), el("code", {}, report.file)),
      el("p", { class: "note" }, report.facts.join(" · ")),
      ...report.problems.slice(0, 8).map((problem) => el("p", { class: "warning" }, `Not all could be read: ${problem}`))),
    themes(),
  );
}

function footer(): HTMLElement {
  return el("footer", {}, `Written by heapline ${report.version}. This page loads nothing and sends nothing; it holds what retains most, not the whole dump.`);
}
