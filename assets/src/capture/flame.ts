// An icicle or a flame graph: a button a frame, as wide as its share. A click or Enter goes into one, Escape leads back, arrow keys
// move to the caller, to what is below and to the neighbours.
import { button, el } from "../dom";
import { share } from "../units";
import { type Frames, FrameKind } from "./data";
import type { Paths } from "./paths";

const ROW = 20; // pixels, as in report.css
const LEAST = 3; // pixels: what is narrower is not drawn
const MOST = 6000; // frames that are drawn, those near the root first
const HUES = 8;

/** What is shown. */
export interface Shown {
  paths: Paths;
  totals: Float64Array;
  /** Frames that the search marks, by number; null: there is no search. */
  matching: Uint8Array | null;
  /** Does the root stand below? */
  upwards: boolean;
  amount(value: number): string;
  empty: string;
}

interface Place { node: number; depth: number; left: number; width: number }

export class Flame {
  readonly element = el("div", { class: "flame", role: "group", "aria-label": "Call paths" });
  /** What the pointer or the focus is on. */
  readonly detail = el("div", { class: "frame-detail" });
  private readonly room = el("div", { class: "flame-room" });
  private shown: Shown | null = null;
  private root = 0;
  private tiles = new Map<number, HTMLButtonElement>();
  private width = 0;
  private depth = 0; // of what fills the width

  /** gone: another node fills the width. */
  constructor(private readonly frames: Frames, private readonly gone: () => void) {
    this.element.append(this.room);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.room.addEventListener("pointerover", (event) => this.describe(nodeOf(event.target)));
    this.room.addEventListener("focusin", (event) => this.describe(nodeOf(event.target)));
    this.room.addEventListener("click", (event) => { const node = nodeOf(event.target); if (node !== null) this.go(node); });
    new ResizeObserver(() => { if (this.element.clientWidth !== this.width) this.draw(); }).observe(this.element);
  }

  /** The nodes that lead to what fills the width, with it. */
  get way(): number[] {
    return this.shown ? this.shown.paths.way(this.root) : [0];
  }

  show(shown: Shown): void {
    if (this.shown?.paths !== shown.paths || shown.totals[this.root] <= 0) this.root = 0;
    this.shown = shown;
    this.draw();
    this.describe(this.root);
  }

  go(node: number): void {
    this.root = node;
    this.draw();
    this.tiles.get(node)?.focus({ preventScroll: true });
    this.describe(node);
    this.gone();
  }

  private draw(): void {
    const { shown } = this;
    this.width = this.element.clientWidth;
    if (!shown || this.width === 0) return;
    this.depth = this.way.length - 1;
    const places = layOut(shown, this.root, this.width);
    const deepest = places.reduce((most, { depth }) => Math.max(most, depth), 0);
    this.tiles = new Map(places.map((place) => [place.node, this.tile(shown, place, deepest)]));
    this.room.style.height = `${(deepest + 1) * ROW}px`;
    this.room.replaceChildren(...(shown.totals[0] > 0 ? this.tiles.values() : [el("p", { class: "empty" }, shown.empty)]));
    if (shown.upwards) this.element.scrollTop = this.element.scrollHeight;
    this.tiles.get(this.root)?.setAttribute("tabindex", "0");
  }

  private tile({ paths, totals, matching, upwards, amount }: Shown, { node, depth, left, width }: Place, deepest: number): HTMLButtonElement {
    const frame = paths.frame[node];
    const [name, where] = [this.frames.name(frame), this.frames.place(frame)];
    const classes = ["frame", this.hue(frame), matching && (matching[frame] ? "match" : "dim"), depth < this.depth && "above"];
    const words = [name, where, amount(totals[node]), share(totals[node] / totals[0])].filter(Boolean).join(", ");
    const made = button(width > 24 && el("span", { class: "frame-words" }, el("bdi", {}, name), width > 150 && where !== "" && el("small", {}, "  ", el("bdi", {}, where.split("/").at(-1)))), { class: classes.filter(Boolean).join(" "), tabindex: "-1", title: words, "data-node": String(node) }, () => undefined);
    made.style.left = `${left}px`;
    made.style.width = `${Math.max(width - 1, 1)}px`;
    made.style.top = `${(upwards ? deepest - depth : depth) * ROW}px`;
    return made;
  }

  /** A colour for each gem and library; the application has one of its own. */
  private hue(frame: number): string {
    if (frame === 0 || this.frames.kind(frame) === FrameKind.Special) return "hue-none";
    if (this.frames.kind(frame) === FrameKind.Class) return "hue-none class";
    const gem = this.frames.gem(frame);
    if (!gem) return this.frames.kind(frame) === FrameKind.Native ? "hue-5" : "hue-3";
    let hash = 0;
    for (const letter of gem) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 65521;
    return `hue-${[0, 1, 2, 4, 6, 7][hash % (HUES - 2)]}`;
  }

  private describe(node: number | null): void {
    const { shown } = this;
    if (node === null || !shown) return;
    const { paths, totals, amount } = shown;
    const frame = paths.frame[node];
    const above = this.root === 0 || totals[this.root] === 0 ? "" : `, ${share(totals[node] / totals[this.root])} of what is shown`;
    const own = totals[node] - paths.children(node, totals).reduce((sum, child) => sum + totals[child], 0);
    const figures = `${amount(totals[node])}, ${share(totals[0] > 0 ? totals[node] / totals[0] : 0)}${above}${own > 0 && own < totals[node] ? `; itself ${amount(own)}` : ""}`;
    this.detail.replaceChildren(
      el("p", { class: "thing-line" }, el("b", {}, el("bdi", {}, this.frames.name(frame))), ` ${figures}`),
      el("p", { class: "note" }, el("bdi", {}, this.frames.place(frame) || (node === 0 ? "all call paths" : "")), this.frames.gem(frame) && ` (${this.frames.gem(frame)})`),
      el("code", { class: "line-of-source" }, this.frames.source(frame)));
  }

  private key(event: KeyboardEvent): void {
    const { shown } = this;
    if (!shown) return;
    const node = nodeOf(document.activeElement) ?? this.root;
    const parent = shown.paths.parent[node];
    if (event.key === "Escape" && this.root !== 0) this.go(shown.paths.parent[this.root]);
    else if (event.key === (shown.upwards ? "ArrowDown" : "ArrowUp")) this.focus(node === 0 ? null : parent);
    else if (event.key === (shown.upwards ? "ArrowUp" : "ArrowDown")) this.focus(this.below(shown, node));
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") this.focus(this.beside(shown, node, event.key === "ArrowRight" ? 1 : -1));
    else return;
    event.preventDefault();
  }

  private below({ paths, totals }: Shown, node: number): number | null {
    return paths.children(node, totals).find((child) => this.tiles.has(child)) ?? null;
  }

  private beside({ paths, totals }: Shown, node: number, by: number): number | null {
    if (node === 0) return null;
    const all = paths.children(paths.parent[node], totals);
    return all[all.indexOf(node) + by] ?? null;
  }

  private focus(node: number | null): void {
    const to = node === null ? undefined : this.tiles.get(node);
    if (!to) return;
    for (const tile of this.room.querySelectorAll<HTMLElement>('[tabindex="0"]')) tile.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}

/** Level by level: what leads to the root as wide as all, below it each as wide as its share. */
function layOut({ paths, totals }: Shown, root: number, width: number): Place[] {
  const way = paths.way(root);
  const places = way.map((node, depth) => ({ node, depth, left: 0, width }));
  if (totals[root] <= 0) return places;
  for (let at = way.length - 1; at < places.length && places.length < MOST; at++) {
    const { node, depth, left, width: whole } = places[at];
    let x = left;
    for (const child of paths.children(node, totals)) {
      const wide = (totals[child] / totals[node]) * whole;
      if (wide < LEAST) break;
      places.push({ node: child, depth: depth + 1, left: x, width: wide });
      x += wide;
    }
  }
  return places;
}

function nodeOf(target: EventTarget | null): number | null {
  const tile = target instanceof Element ? target.closest<HTMLElement>("[data-node]") : null;
  return tile ? Number(tile.dataset.node) : null;
}
