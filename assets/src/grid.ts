// A table of rows with a name and figures. Only the rows in view are in the document: 100,000 of them cost what 40 do.
// A click on a title sorts, the keyboard reaches every row.
import { button, el, select } from "./dom";

const ROW = 46; // pixels, as in report.css
const OVERSCAN = 8; // rows above and below the view

/** Rows by number. */
export interface Named {
  count: number;
  name(row: number): string;
}

export interface Column<R> {
  key: string;
  title: string;
  meaning: string;
  /** Widest screens show all, narrower ones those of a lower rank. */
  rank: number;
  value(rows: R, row: number): number;
  text(value: number): string;
}

/** What one table has of its own. */
export interface Own<R> {
  /** What the table is, for who cannot see it. */
  caption: string;
  /** What stands there where no row is left. */
  nothing: string;
  /** Title of the first column. */
  title(rows: R): string;
  /** The first cell: a button with these attributes, and what else there is. */
  name(rows: R, row: number, attributes: Record<string, string>): HTMLElement[];
  /** A row was chosen. */
  open(rows: R, row: number): void;
}

export class Grid<R extends Named> {
  readonly element: HTMLElement;
  /** A choice of the column, for screens without room for titles. */
  readonly sortChoice: HTMLElement;
  private readonly head = el("tr", { "aria-rowindex": "1" });
  private readonly body = el("tbody");
  private readonly table: HTMLElement;
  private ordered: Uint32Array = new Uint32Array();
  private shown: Column<R>[] = [];
  private ascending = false;
  private active = 0; // position of the row that has, or last had, the focus
  private stop = 0; // position of the row that the Tab key reaches
  private drawn = ""; // what of it is in the document
  private laid = ""; // the size that it was last laid out for

  /** sorted: key of the column that it is first sorted by. */
  constructor(private readonly columns: Column<R>[], private sorted: string, private rows: R, private readonly own: Own<R>) {
    this.table = el("table", {}, el("caption", { class: "unseen" }, own.caption), el("thead", {}, this.head), this.body);
    this.element = el("div", { class: "rows", tabindex: "-1" }, this.table);
    this.sortChoice = select("Sort by", columns.map(({ key, title }) => [key, title]), (key) => this.sort(key, false));
    this.sortChoice.classList.add("sort-choice");
    this.element.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.body.addEventListener("click", (event) => this.click(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("focusin", (event) => { this.active = position(event.target) ?? this.active; });
    new ResizeObserver(() => { if (this.size !== this.laid) this.layOut(); }).observe(this.element);
  }

  /** Show these of the rows. */
  show(rows: R, chosen: Uint32Array): void {
    this.rows = rows;
    this.ordered = chosen;
    this.arrange();
  }

  /** The row `by` rows away from `row`, in the order of the table; null at its ends. */
  neighbour(row: number, by: number): number | null {
    const at = this.ordered.indexOf(row);
    const to = at + by;
    if (at < 0 || to < 0 || to >= this.ordered.length) return null;
    return this.ordered[to];
  }

  /** Put the focus on a row. */
  focus(row: number): void {
    const at = this.ordered.indexOf(row);
    if (at >= 0) this.reveal(at);
  }

  private sort(key: string, ascending: boolean): void {
    this.sorted = key;
    this.ascending = ascending;
    const list = this.sortChoice.querySelector("select");
    if (list && key !== "name") list.value = key;
    this.arrange();
  }

  private arrange(): void {
    const column = this.columns.find(({ key }) => key === this.sorted) ?? "name";
    this.ordered = order(this.rows, this.ordered, column, this.ascending);
    this.active = 0;
    this.element.scrollTop = 0;
    this.table.setAttribute("aria-rowcount", String(this.ordered.length + 1));
    this.drawn = "";
    this.layOut();
  }

  private get size(): string {
    return `${this.element.clientWidth} ${this.element.clientHeight}`;
  }

  private layOut(): void {
    this.laid = this.size;
    this.shown = fitting(this.columns, this.element.clientWidth, this.sorted);
    this.head.replaceChildren(this.title("name", this.own.title(this.rows), ""), ...this.shown.map(({ key, title, meaning }) => this.title(key, title, meaning)));
    this.drawn = "";
    this.draw();
  }

  private title(key: string, text: string, meaning: string): HTMLElement {
    const sorted = key === this.sorted;
    const cell = el("th", { scope: "col", ...(key === "name" && { class: "name" }), ...(meaning && { title: meaning }), ...(sorted && { "aria-sort": this.ascending ? "ascending" : "descending" }) });
    const sign = el("span", { "aria-hidden": "true", class: "sign" }, sorted ? (this.ascending ? "▲" : "▼") : "");
    const sort = button(text, { "data-sort": key }, () => {
      this.sort(key, sorted ? !this.ascending : key === "name");
      this.head.querySelector<HTMLElement>(`[data-sort="${key}"]`)?.focus();
    });
    sort.append(sign);
    cell.append(sort);
    return cell;
  }

  private draw(): void {
    const view = this.element;
    const first = Math.max(0, Math.floor(view.scrollTop / ROW) - OVERSCAN);
    const last = Math.min(this.ordered.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + OVERSCAN);
    const now = `${first} ${last}`;
    if (now === this.drawn) return;
    this.drawn = now;
    const hadFocus = view.contains(document.activeElement);
    this.stop = Math.min(Math.max(this.active, first), last - 1);
    const rows = Array.from({ length: last - first }, (_, at) => this.row(first + at));
    this.body.replaceChildren(space(first), ...rows, space(this.ordered.length - last));
    if (this.ordered.length === 0) this.body.replaceChildren(this.nothing());
    if (hadFocus) (this.buttonAt(this.active) ?? view).focus({ preventScroll: true });
  }

  private row(at: number): HTMLElement {
    const row = this.ordered[at];
    const figures = this.shown.map((column) =>
      el("td", { class: column.key === this.sorted ? "figure sorted" : "figure" }, column.text(column.value(this.rows, row))));
    const name = this.own.name(this.rows, row, { class: "open", tabindex: at === this.stop ? "0" : "-1" });
    return el("tr", { "aria-rowindex": String(at + 2), "data-at": String(at) }, el("th", { scope: "row", class: "name" }, ...name), ...figures);
  }

  private nothing(): HTMLElement {
    return el("tr", {}, el("td", { class: "empty", colspan: String(this.shown.length + 1) }, this.own.nothing));
  }

  private click(event: Event): void {
    const at = position(event.target);
    if (at === null || String(document.getSelection()) !== "") return;
    this.active = at;
    this.own.open(this.rows, this.ordered[at]);
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.reveal(Math.min(Math.max(this.active + step, 0), this.ordered.length - 1));
  }

  /** Scroll so that the row is whole in view, and give it the focus. */
  private reveal(at: number): void {
    const view = this.element;
    const [top, bottom] = [at * ROW, (at + 1) * ROW + this.head.offsetHeight];
    if (top < view.scrollTop) view.scrollTop = top;
    else if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
    this.active = at;
    this.drawn = "";
    this.draw();
    this.buttonAt(at)?.focus({ preventScroll: true });
  }

  private buttonAt(at: number): HTMLElement | null {
    return this.body.querySelector<HTMLElement>(`tr[data-at="${at}"] button`);
  }
}

/** The columns that a table of so many pixels has room for; the sorted one is always there. */
function fitting<R>(columns: Column<R>[], width: number, sorted: string): Column<R>[] {
  const rank = [480, 660, 840, 1000, 1200].filter((limit) => width >= limit).length + 1;
  const room = columns.filter((column) => column.rank <= rank || column.key === sorted);
  return rank === 1 ? room.filter((column) => column.key === sorted) : room;
}

/** Rows in the order of a column; equal ones as they came. */
function order<R extends Named>(rows: R, chosen: Uint32Array, column: Column<R> | "name", ascending: boolean): Uint32Array {
  if (column === "name") {
    const sign = ascending ? 1 : -1;
    const names = new Map(Array.from(chosen, (row) => [row, rows.name(row)]));
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    return chosen.slice().sort((a, b) => sign * compare(names.get(a)!, names.get(b)!));
  }
  const keys = new Float64Array(rows.count);
  for (const row of chosen) keys[row] = ascending ? column.value(rows, row) : -column.value(rows, row);
  return chosen.slice().sort((a, b) => keys[a] - keys[b] || a - b);
}

/** The position of the row that an event happened in. */
function position(target: EventTarget | null): number | null {
  const row = target instanceof Element ? target.closest<HTMLElement>("tr[data-at]") : null;
  return row ? Number(row.dataset.at) : null;
}

/** What stands for so many rows that are not in the document. */
function space(rows: number): HTMLElement {
  const row = el("tr", { class: "space", "aria-hidden": "true" }, el("td"));
  row.style.height = `${rows * ROW}px`;
  return row;
}
