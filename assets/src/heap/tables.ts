// The tables, one shown at a time, under one filter.
import { el, section, select } from "../dom";
import { Grid } from "../grid";
import { bytes, count } from "../units";
import type { Kind, Rows } from "./rows";

/** Before a class's name in the filter: only objects of this class. */
export const CLASS = "class:";

export class Tables {
  readonly element: HTMLElement;
  private readonly search = el("input", { type: "search", placeholder: "Filter: class, value, address, file…", "aria-label": "Filter the table", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
  private readonly found = el("p", { class: "found", role: "status" });
  private readonly choice: HTMLElement;
  private readonly room = el("div", { class: "room" });
  private readonly sorts = el("div", { class: "room" });
  private readonly grids = new Map<string, Grid<Rows>>();
  private readonly straws = new Map<string, string[]>();
  private kind: Kind;

  constructor(private readonly kinds: Kind[]) {
    this.kind = kinds[0];
    this.choice = select("Show", kinds.map(({ key, words }) => [key, words]), (key) => this.show(key, this.search.value));
    this.element = section("tables", "Objects, classes and lines", el("div", { class: "toolbar" }, this.search, this.choice, this.sorts), this.found, this.room);
    this.search.addEventListener("input", () => this.filter());
    this.show(this.kind.key, "");
  }

  /** Show the table of this key, and of it what has these words. */
  show(key: string, words: string): void {
    this.kind = this.kinds.find((kind) => kind.key === key) ?? this.kinds[0];
    this.search.value = words;
    const list = this.choice.querySelector("select");
    if (list) list.value = this.kind.key;
    const grid = this.grid();
    this.room.replaceChildren(grid.element);
    this.sorts.replaceChildren(grid.sortChoice);
    this.filter();
  }

  focusFilter(): void {
    this.search.focus();
    this.search.select();
  }

  /** Of the objects: the row so many further, and the focus on one. */
  neighbour(row: number, by: number): number | null {
    return this.kind.key === "holders" ? this.grid().neighbour(row, by) : null;
  }

  focus(row: number): void {
    if (this.kind.key === "holders") this.grid().focus(row);
  }

  private grid(): Grid<Rows> {
    const { key, columns, sorted, rows, own } = this.kind;
    let grid = this.grids.get(key);
    if (!grid) this.grids.set(key, (grid = new Grid(columns, sorted, rows, own)));
    return grid;
  }

  /** Is a row one in which all words occur, or, after "class:", one of this class? */
  private test(): (row: number) => boolean {
    const { kind } = this;
    const text = this.search.value.trim();
    const { classOf } = kind;
    if (classOf && text.startsWith(CLASS)) return (row) => classOf(row) === text.slice(CLASS.length);
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const straws = this.straws.get(kind.key) ?? Array.from({ length: kind.rows.count }, (_, row) => kind.straw(row).toLowerCase());
    this.straws.set(kind.key, straws);
    return (row) => words.every((word) => straws[row].includes(word));
  }

  private filter(): void {
    const { kind } = this;
    const fits = this.test();
    const chosen = Uint32Array.from({ length: kind.rows.count }, (_, row) => row).filter(fits);
    const all = count(kind.rows.count);
    const [left, weight] = kind.rest;
    const rest = left > 0 ? `; ${count(left)} smaller ones with ${bytes(weight)} are not in this page` : "";
    this.found.textContent = `${chosen.length === kind.rows.count ? all : `${count(chosen.length)} of ${all}`} ${kind.words}${rest}`;
    this.grid().show(kind.rows, chosen);
  }
}
