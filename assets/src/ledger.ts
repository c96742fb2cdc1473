// RSS as one stacked bar, and its lines below it. A line with parts opens.
import { el, section } from "./dom";
import type { LedgerLine } from "./data";
import { bytes, share } from "./units";

/** total: what the lines add up to. Lines may be negative (memory that was swapped out, for one): the bar leaves them out. */
export function ledger(id: string, title: string, note: string, total: number, lines: LedgerLine[]): HTMLElement {
  const shown = lines.filter((line) => line.bytes !== 0 || line.parts.length > 0);
  const positive = shown.reduce((sum, line) => sum + Math.max(line.bytes, 0), 0);
  return section(
    id, title,
    el("p", { class: "note" }, note),
    bar(shown.filter((line) => line.bytes > 0), positive),
    el("ul", { class: "lines" }, ...shown.map((line) => entry(line, total))),
  );
}

/** The list below says the same in words: for who cannot see it the bar is one picture. */
function bar(lines: LedgerLine[], positive: number): HTMLElement {
  const parts = lines.map((line) => {
    const part = el("span", { class: `part line-${colour(line)}`, title: `${line.name} ${bytes(line.bytes)}` });
    part.style.flexGrow = String(line.bytes / positive);
    if (line.bytes / positive > 0.1) part.append(el("span", {}, line.name), el("b", {}, bytes(line.bytes)));
    return part;
  });
  return el("div", { class: "bar", "aria-hidden": "true" }, ...parts);
}

function entry(line: LedgerLine, total: number): HTMLElement {
  const words = [
    el("span", { class: `swatch line-${colour(line)}` }),
    el("span", { class: "name" }, line.name),
    el("span", { class: "figure" }, bytes(line.bytes)),
    el("span", { class: "figure share" }, line.bytes < 0 || total <= 0 ? "" : share(line.bytes / total)),
  ];
  if (line.parts.length === 0) return el("li", { class: "line" }, ...words);
  return el("li", {}, el("details", {}, el("summary", { class: "line" }, ...words), parts(line.parts)));
}

function parts(lines: LedgerLine[]): HTMLElement {
  const rows = lines.map((line) => {
    const words = [el("span", { class: "name" }, line.name), el("span", { class: "figure" }, bytes(line.bytes))];
    return el("li", {}, el("div", { class: "line" }, ...words), line.parts.length > 0 && parts(line.parts));
  });
  return el("ul", { class: "lines parts" }, ...rows);
}

const COLOURS = [
  "objects_live", "objects_free", "malloc_ruby", "malloc_native", "malloc_held", "heapline", "stacks", "jit", "code",
];

function colour(line: LedgerLine): string {
  return COLOURS.includes(line.key) || line.key.startsWith("library-") ? line.key : "other";
}
