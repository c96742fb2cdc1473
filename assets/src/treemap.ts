// The treemap: a button a rectangle, with what is in it, and in that what is large enough. Enter or a click goes into one, Escape and
// the path above it lead back, arrow keys move to the neighbour in that direction.
import { hierarchy, treemap as layout, treemapSquarify } from "d3-hierarchy";
import type { HierarchyRectangularNode } from "d3-hierarchy";
import { type Branch, largest } from "./branch";
import { button, el, section, select } from "./dom";

type Rectangle = HierarchyRectangularNode<Branch>;

const LIMITS = [40, 25, 15]; // rectangles in one, by depth; the last stands for the rest
const HEAD = 20; // pixels, for the name above what is inside
const HUES = 8;

/** What one map shows. */
export interface World {
  id: string;
  title: string;
  /** The same for who cannot see it, where the title does not say enough. */
  label: string;
  /** What the area can be: key and words. */
  measures: [string, string][];
  tree(measure: string): Branch;
  amount(value: number, measure: string): string;
  /** A branch's name, so many levels below the whole. */
  name(branch: Branch, depth: number): string;
  /** The same, where a rectangle is so many pixels wide. */
  fit(name: string, depth: number, width: number): string;
  /** Another place is shown: the keys that lead to it. */
  gone(trail: string[]): void;
  /** A leaf was chosen. */
  opened(leaf: number): void;
}

export class Treemap {
  readonly element: HTMLElement;
  private readonly map: HTMLElement;
  private readonly path = el("nav", { class: "crumbs", "aria-label": "Place in the treemap" });
  private measure: string;
  private root: Branch;
  private trail: string[] = [];
  private way: Branch[] = []; // the branches that lead to what is shown, the whole first

  constructor(private readonly world: World) {
    this.measure = world.measures[0][0];
    this.root = world.tree(this.measure);
    this.map = el("div", { class: "treemap", role: "group", "aria-label": world.label });
    const choice = world.measures.length > 1 && select("Area", world.measures, (key) => this.measureBy(key));
    this.element = section(world.id, world.title, el("div", { class: "toolbar" }, this.path, choice), this.map);
    this.map.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.map);
  }

  /** Show the place that these keys lead to; where there is none, the nearest above it. */
  show(trail: string[]): void {
    this.trail = trail;
    this.draw();
  }

  private measureBy(measure: string): void {
    this.measure = measure;
    this.root = this.world.tree(measure);
    this.draw();
  }

  private go(trail: string[]): void {
    this.trail = trail;
    this.world.gone(trail);
    this.draw();
    (this.map.querySelector<HTMLElement>(".tile:not(:disabled)") ?? this.path.querySelector("button"))?.focus();
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.map;
    if (width === 0) return;
    this.way = this.found();
    this.path.replaceChildren(...this.crumbs());
    const tiles = this.rectangles(this.here, width, height).flatMap((node) => this.tile(node) ?? []);
    tiles.find((tile) => !tile.disabled)?.setAttribute("tabindex", "0");
    this.map.replaceChildren(...(tiles.length > 0 ? tiles : [el("p", { class: "empty" }, "This part has no bytes of this kind.")]));
  }

  private get here(): Branch {
    return this.way[this.way.length - 1];
  }

  private found(): Branch[] {
    const way = [this.root];
    for (const key of this.trail) {
      const next = way[way.length - 1].children.find((child) => child.key === key);
      if (!next) break;
      way.push(next);
    }
    return way;
  }

  private crumbs(): HTMLElement[] {
    const items = this.way.map((branch, depth) => {
      const text = depth === 0 ? "all" : this.world.name(branch, depth);
      if (branch === this.here) return el("b", { "aria-current": "location" }, text);
      return button(text, { class: "crumb" }, () => this.go(this.keys().slice(0, depth)));
    });
    return [...items, el("span", { class: "figure" }, this.amount(this.here.value))];
  }

  private keys(): string[] {
    return this.way.slice(1).map((branch) => branch.key);
  }

  /** Parents before their children, so that these lie above them. */
  private rectangles(here: Branch, width: number, height: number): Rectangle[] {
    const visible = prune(here, 0);
    const root = hierarchy(visible, (each) => each.children).sum((each) => (each.children.length > 0 ? 0 : each.value));
    const laid = layout<Branch>().tile(treemapSquarify).size([width, height]).paddingInner(2).paddingTop(head).round(true)(root);
    return laid.descendants().slice(1).filter((node) => node.parent && isOpen(node.parent));
  }

  private tile(node: Rectangle): HTMLButtonElement | null {
    const [width, height] = [node.x1 - node.x0, node.y1 - node.y0];
    if (width < 3 || height < 3) return null;
    const branch = node.data;
    const amount = this.amount(branch.value);
    const depth = node.depth + this.way.length - 1;
    const name = this.world.name(branch, depth);
    const tile = button(null, { class: `tile depth-${node.depth} hue-${this.hue(node)}`, tabindex: "-1", title: `${name}\n${amount}`, "aria-label": `${name} ${amount}` }, () => this.choose(node));
    if (width > 40 && height > 18) tile.append(...words(this.world.fit(name, depth, width), amount, !isOpen(node) && height > 36));
    tile.disabled = branch.merged > 0;
    Object.assign(tile.style, { left: `${node.x0}px`, top: `${node.y0}px`, width: `${width}px`, height: `${height}px` });
    return tile;
  }

  private choose(node: Rectangle): void {
    if (node.data.leaf >= 0) return this.world.opened(node.data.leaf);
    const keys = node.ancestors().reverse().slice(1).map((each) => each.data.key);
    this.go([...this.keys(), ...keys]);
  }

  private hue(node: Rectangle): number {
    const top = node.ancestors().at(-2) ?? node;
    return (top.parent?.children?.indexOf(top) ?? 0) % HUES;
  }

  private amount(value: number): string {
    return this.world.amount(value, this.measure);
  }

  private key(event: KeyboardEvent): void {
    if ((event.key === "Escape" || event.key === "Backspace") && this.way.length > 1) this.go(this.keys().slice(0, -1));
    else if (event.key.startsWith("Arrow")) this.move(event.key);
    else return;
    event.preventDefault();
  }

  private move(key: string): void {
    const from = document.activeElement;
    if (!(from instanceof HTMLButtonElement)) return;
    const others = [...this.map.querySelectorAll<HTMLButtonElement>(".tile:not(:disabled)")].filter((tile) => tile !== from);
    const to = neighbour(from, others, key);
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}

/** Name and amount: above each other where there is room, else in a row. */
function words(name: string, amount: string, tall: boolean): Node[] {
  const text = el("span", { class: "tile-name" }, name);
  const figure = el("span", { class: "tile-figure" }, amount);
  return tall ? [text, new Text(" "), figure] : [el("span", { class: "tile-name" }, text, " ", figure)];
}

/** What fills the map shows what is in it; so does what is in that, where there is room. */
function isOpen(node: Rectangle): boolean {
  return node.children !== undefined && (node.depth < 2 || (node.x1 - node.x0 > 90 && node.y1 - node.y0 > 60));
}

function head(node: Rectangle): number {
  return node.depth > 0 && isOpen(node) ? HEAD : 0;
}

function prune(branch: Branch, depth: number): Branch {
  if (depth === LIMITS.length) return { ...branch, children: [] };
  return { ...branch, children: largest(branch.children, LIMITS[depth]).map((child) => prune(child, depth + 1)) };
}

/** The nearest in the direction of the key; what lies across the way counts twice. */
function neighbour(from: HTMLElement, others: HTMLButtonElement[], key: string): HTMLButtonElement | null {
  const here = anchor(from);
  const distance = (tile: HTMLElement): number => {
    const there = anchor(tile);
    const [x, y] = [there.x - here.x, there.y - here.y];
    const along = { ArrowRight: x, ArrowLeft: -x, ArrowDown: y, ArrowUp: -y }[key] ?? 0;
    const across = key === "ArrowRight" || key === "ArrowLeft" ? y : x;
    return along > 0 ? along + 2 * Math.abs(across) : Infinity;
  };
  const best = others.reduce<[HTMLButtonElement | null, number]>((found, tile) => {
    const far = distance(tile);
    return far < found[1] ? [tile, far] : found;
  }, [null, Infinity]);
  return best[0];
}

/** A parent shows only its head, so the corner stands for a tile. */
function anchor(tile: HTMLElement): { x: number; y: number } {
  return { x: tile.offsetLeft, y: tile.offsetTop };
}
