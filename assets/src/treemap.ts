// The treemap: a button a rectangle, gems with their files, and in those that are large enough their lines. Enter or a click goes into one, Escape and the path above it
// lead back, arrow keys move to the neighbour in that direction.
import { hierarchy, treemap as layout, treemapSquarify } from "d3-hierarchy";
import type { HierarchyRectangularNode } from "d3-hierarchy";
import { button, el, section, select } from "./dom";
import type { Figure, Sites } from "./data";
import { type Branch, type Scope, largest, tree } from "./tree";
import { bytes, count } from "./units";

type Rectangle = HierarchyRectangularNode<Branch>;

const LIMITS = [40, 25, 15]; // rectangles in one, by depth; the last stands for the rest
const HEAD = 20; // pixels, for the name above what is inside
const HUES = 8;
const MEASURES: [Figure, string][] = [
  ["live_bytes", "live bytes"], ["growth_bytes", "growth"], ["retained_bytes", "retained since the baseline"],
  ["bytes_allocated", "allocated bytes"], ["allocations", "allocations"],
];

/** scoped: called with what the map now shows; opened: with the number of a site that was chosen. */
export class Treemap {
  readonly element: HTMLElement;
  private readonly map = el("div", { class: "treemap", role: "group", "aria-label": "Treemap of memory by gem, file and line" });
  private readonly path = el("nav", { class: "crumbs", "aria-label": "Place in the treemap" });
  private figure: Figure = "live_bytes";
  private root: Branch;
  private trail: string[] = [];

  constructor(private readonly sites: Sites, private readonly scoped: (scope: Scope) => void, private readonly opened: (site: number) => void) {
    this.root = tree(sites, this.figure);
    this.element = section(
      "map", "By gem, file and line",
      el("div", { class: "toolbar" }, this.path, select("Area", MEASURES, (key) => this.measure(key as Figure))),
      this.map,
    );
    this.map.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.map);
  }

  /** Show this place; where the tree has none of that name, the nearest above it. */
  show(scope: Scope): void {
    this.trail = [scope.gem, scope.place].filter((name): name is string => name !== undefined);
    this.draw();
  }

  private measure(figure: Figure): void {
    this.figure = figure;
    this.root = tree(this.sites, figure);
    this.draw();
  }

  private go(trail: string[]): void {
    this.trail = trail;
    this.scoped({ ...(trail[0] !== undefined && { gem: trail[0] }), ...(trail[1] !== undefined && { place: trail[1] }) });
    this.draw();
    (this.map.querySelector<HTMLElement>(".tile:not(:disabled)") ?? this.path.querySelector("button"))?.focus();
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.map;
    if (width === 0) return;
    const here = this.here();
    this.path.replaceChildren(...this.crumbs(here));
    const tiles = this.rectangles(here, width, height).flatMap((node) => this.tile(node) ?? []);
    tiles.find((tile) => !tile.disabled)?.setAttribute("tabindex", "0");
    this.map.replaceChildren(...(tiles.length > 0 ? tiles : [el("p", { class: "empty" }, "Nothing here has such bytes.")]));
  }

  private here(): Branch {
    return this.trail.reduce((at, name) => at.children.find((child) => child.name === name) ?? at, this.root);
  }

  private crumbs(here: Branch): HTMLElement[] {
    const names = ["all", ...this.trail];
    const items = names.map((name, depth) => {
      const text = depth === 2 ? this.short(name) : name;
      if (depth === names.length - 1) return el("b", { "aria-current": "location" }, text);
      return button(text, { class: "crumb" }, () => this.go(this.trail.slice(0, depth)));
    });
    return [...items, el("span", { class: "figure" }, this.amount(here.value))];
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
    const isFile = node.depth + this.trail.length === 2;
    const name = isFile ? this.short(branch.name) : branch.name;
    const tile = button(null, { class: `tile depth-${node.depth} hue-${this.hue(node)}`, tabindex: "-1", title: `${name}\n${amount}`, "aria-label": `${name} ${amount}` }, () => this.choose(node));
    if (width > 40 && height > 18) tile.append(...words(isFile ? tail(name, width) : name, amount, !isOpen(node) && height > 36));
    tile.disabled = branch.merged > 0;
    Object.assign(tile.style, { left: `${node.x0}px`, top: `${node.y0}px`, width: `${width}px`, height: `${height}px` });
    return tile;
  }

  private choose(node: Rectangle): void {
    if (node.data.site >= 0) return this.opened(node.data.site);
    const names = node.ancestors().reverse().slice(1).map((each) => each.data.name);
    this.go([...this.trail, ...names]);
  }

  private hue(node: Rectangle): number {
    const top = node.ancestors().at(-2) ?? node;
    return (top.parent?.children?.indexOf(top) ?? 0) % HUES;
  }

  private amount(value: number): string {
    return this.figure === "allocations" ? count(value) : bytes(value);
  }

  private short(path: string): string {
    return this.sites.shorten(path);
  }

  private key(event: KeyboardEvent): void {
    if ((event.key === "Escape" || event.key === "Backspace") && this.trail.length > 0) this.go(this.trail.slice(0, -1));
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

/** The end of a path, where there is room with its directory. */
function tail(path: string, width: number): string {
  return path.split("/").slice(width > 150 ? -2 : -1).join("/");
}

/** A gem shows its files, a file its lines where there is room. */
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
