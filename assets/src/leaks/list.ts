// The records, alone or in groups. What a record holds is drawn when it is opened.
import { button, el, place } from "../dom";
import { bytes, count } from "../units";
import { KINDS, type Kind, type Records, TITLES } from "./data";

const STEP = 200; // records that are drawn at a time

/** What records can be put together by; "" is each alone. */
export const GROUPS: [string, string][] = [["", "record"], ["culprit", "C function"], ["owner", "library"], ["place", "Ruby line"]];
export type Group = "culprit" | "owner" | "place";

/** "600 B in 100 blocks". */
export function amount(size: number, blocks: number): string {
  return `${bytes(size)} in ${blockWords(blocks)}`;
}

function blockWords(blocks: number): string {
  return `${count(blocks)} block${blocks === 1 ? "" : "s"}`;
}

function many(blocks: number): HTMLElement {
  return el("span", { class: "figure many" }, blockWords(blocks));
}

/** Records as a list that opens; more of them on demand. */
export function list(records: Records, shown: number[]): HTMLElement {
  const items = el("ul", { class: "records" });
  const more = button("", { class: "more" }, () => draw());
  let drawn = 0;
  const draw = (): void => {
    items.append(...shown.slice(drawn, drawn + STEP).map((record) => el("li", {}, item(records, record))));
    drawn = Math.min(drawn + STEP, shown.length);
    more.hidden = drawn === shown.length;
    more.textContent = `Show more: ${count(shown.length - drawn)} are left`;
  };
  draw();
  return el("div", {}, items, more);
}

/** Groups of records by one of their texts, the largest first. */
export function groups(records: Records, shown: number[], by: Group): HTMLElement {
  const members = new Map<string, number[]>();
  for (const record of shown) {
    const name = records.text(record, by) || "(not known)";
    const found = members.get(name);
    if (found) found.push(record);
    else members.set(name, [record]);
  }
  const sum = (all: number[], figure: "bytes" | "blocks"): number => all.reduce((total, record) => total + records.figure(record, figure), 0);
  const sorted = [...members].sort((one, other) => sum(other[1], "bytes") - sum(one[1], "bytes"));
  return el("ul", { class: "records" }, ...sorted.map(([name, all]) => {
    const words = el("span", { class: "words" }, el("b", {}, el("bdi", {}, name)), el("small", {}, `${count(all.length)} record${all.length === 1 ? "" : "s"}`));
    const head = el("summary", {}, el("span", { class: "figure" }, bytes(sum(all, "bytes"))), badges(records, all), words, many(sum(all, "blocks")));
    return el("li", {}, opening(head, () => list(records, all)));
  }));
}

function item(records: Records, record: number): HTMLElement {
  const size = records.figure(record, "bytes");
  const [culprit, via] = [records.text(record, "culprit"), records.text(record, "owner")];
  const words = el("span", { class: "words" },
    el("span", { class: "what" }, el("b", {}, el("bdi", {}, culprit || "(no native stack)")), via && el("span", { class: "via" }, ` ${via}`)),
    el("code", { class: "where" }, ...place(records.text(record, "place")), records.text(record, "label") && el("span", { class: "label" }, `  ${records.text(record, "label")}`)));
  const blocks = records.figure(record, "blocks");
  return opening(
    el("summary", {}, el("span", { class: "figure" }, bytes(size)), badges(records, [record]), words, many(blocks)),
    () => detail(records, record),
  );
}

/** The content comes when it is opened for the first time. */
function opening(summary: HTMLElement, content: () => HTMLElement): HTMLElement {
  const made = el("details", {}, summary);
  made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) made.append(content()); });
  return made;
}

function badges(records: Records, all: number[]): HTMLElement {
  const worst = KINDS.find((kind) => all.some((record) => records.kind(record) === kind)) ?? "reachable";
  return badge(worst);
}

export function badge(kind: Kind): HTMLElement {
  return el("span", { class: `badge loss-${kind}`, title: TITLES[kind] }, kind);
}

function detail(records: Records, record: number): HTMLElement {
  const [blocks, led] = [records.figure(record, "blocks"), records.figure(record, "led_blocks")];
  const [first, last] = [records.figure(record, "first"), records.figure(record, "last")];
  const facts: [string, string][] = [
    [TITLES[records.kind(record)], amount(records.figure(record, "bytes"), blocks)],
    ["and with it", led > 0 ? amount(records.figure(record, "led_bytes"), led) : ""],
    ["malloc called by", records.text(record, "library") || "the Ruby VM"], ["tag", records.text(record, "tag")],
    ["asked for in GC", first === last ? count(first) : `${count(first)} to ${count(last)}`],
    ["process", String(records.figure(record, "pid"))],
    [blocks > records.addresses(record).length ? "some addresses" : "addresses", records.addresses(record).join(" ")],
  ];
  return el("div", { class: "record" },
    el("dl", { class: "facts" }, ...facts.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, text))])),
    stack(records, record));
}

/** The frames, the caller of malloc first. */
function stack(records: Records, record: number): HTMLElement {
  const frames = records.frames(record);
  if (frames.length === 0) return el("p", { class: "note" }, "Its native stack is not known.");
  const rows = frames.map(({ name, place: where, library, inlined }) =>
    el("li", {}, el("bdi", { class: "thing" }, name), el("code", { class: "where" }, ...place(where)), el("small", {}, [library, inlined ? "inlined" : ""].filter(Boolean).join(", "))));
  return el("ol", { class: "stack", "aria-label": "Stack" }, ...rows);
}
