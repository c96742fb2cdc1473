// The table of sites or groups. Only the rows in view are in the document: 100,000 of them cost what 40 do.
import { COLUMNS, type Column, fitting, order } from "./columns";
import type { Sites } from "./data";
import { button, el, place, section, select } from "./dom";
import { Filter, type Grouping, type Rows, groups, lines } from "./rows";
import type { Scope } from "./tree";
import { count } from "./units";

const ROW = 46; // pixels, as in report.css
const OVERSCAN = 8; // rows above and below the view
const GROUPINGS: [Grouping, string][] = [["line", "lines"], ["file", "files"], ["gem", "gems"], ["library", "libraries"], ["tag", "tags"]];

/** opened: called with the number of a site that was chosen; scoped: with a scope that was chosen here. */
export class Table {
  readonly element: HTMLElement;
  private readonly head = el("tr", { "aria-rowindex": "1" });
  private readonly body = el("tbody");
  private readonly table = el("table", {}, el("caption", { class: "unseen" }, "Sites that allocated memory"), el("thead", {}, this.head), this.body);
  private readonly view = el("div", { class: "rows", tabindex: "-1" }, this.table);
  private readonly search = el("input", { type: "search", placeholder: "Filter: file, method, gem, library…", "aria-label": "Filter the table", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
  private readonly found = el("p", { class: "found", role: "status" });
  private readonly chips = el("div", { class: "chips" });
  private readonly sortChoice: HTMLElement;
  private readonly groupChoice: HTMLElement;
  private readonly filter: Filter;
  private readonly everyLine: Rows;

  private grouping: Grouping = "line";
  private scope: Scope = {};
  private extra: ["library" | "tag", string] | null = null;
  private sorted: string;
  private ascending = false;
  private rows: Rows;
  private ordered: Uint32Array = new Uint32Array();
  private columns: Column[] = [];
  private active = 0; // position of the row that has, or last had, the focus
  private stop = 0; // position of the row that the Tab key reaches
  private drawn = ""; // what of it is in the document

  constructor(private readonly sites: Sites, sort: string | null, private readonly opened: (site: number) => void, private readonly scoped: (scope: Scope) => void) {
    this.filter = new Filter(sites);
    this.sorted = sort ?? "growth";
    this.rows = this.everyLine = lines(sites);
    this.sortChoice = select("Sort by", COLUMNS.map(({ key, title }) => [key, title]), (key) => this.sort(key, false));
    this.sortChoice.classList.add("sort-choice");
    this.groupChoice = select("Show", GROUPINGS, (key) => this.group(key as Grouping));
    this.element = section("sites", "By line", el("div", { class: "toolbar" }, this.search, this.groupChoice, this.sortChoice), this.chips, this.found, this.view);
    this.listen();
    this.choose();
  }

  /** Show what is in this scope only. */
  narrow(scope: Scope): void {
    this.scope = scope;
    this.choose();
  }

  focusFilter(): void {
    this.search.focus();
    this.search.select();
  }

  /** The site `by` rows away from `site` in the order of the table; null at its ends and in groups. */
  neighbour(site: number, by: number): number | null {
    const at = this.rows.grouping === "line" ? this.ordered.indexOf(site) : -1;
    const to = at + by;
    if (at < 0 || to < 0 || to >= this.ordered.length) return null;
    return this.ordered[to];
  }

  /** Put the focus on the row of a site. */
  focusSite(site: number): void {
    const at = this.ordered.indexOf(site);
    if (at >= 0) this.reveal(at);
  }

  private listen(): void {
    this.search.addEventListener("input", () => this.choose());
    this.view.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.body.addEventListener("click", (event) => this.click(event));
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("focusin", (event) => { this.active = position(event.target) ?? this.active; });
    new ResizeObserver(() => this.layOut()).observe(this.view);
  }

  private group(grouping: Grouping): void {
    this.grouping = grouping;
    this.choose();
  }

  private sort(key: string, ascending: boolean): void {
    this.sorted = key;
    this.ascending = ascending;
    const list = this.sortChoice.querySelector("select");
    if (list && key !== "name") list.value = key;
    this.arrange();
  }

  private choose(): void {
    const chosen = this.filter.choose(this.search.value, this.scope, this.extra);
    this.rows = this.grouping === "line" ? this.everyLine : groups(this.sites, this.grouping, chosen);
    this.ordered = this.grouping === "line" ? chosen : Uint32Array.from({ length: this.rows.count }, (_, row) => row);
    const list = this.groupChoice.querySelector("select");
    if (list) list.value = this.grouping;
    this.chips.replaceChildren(...this.chipsOf());
    this.say(chosen.length);
    this.arrange();
  }

  private say(chosen: number): void {
    const all = count(this.sites.count);
    const some = chosen === this.sites.count ? all : `${count(chosen)} of ${all}`;
    const what = this.grouping === "line" ? "" : `, in ${count(this.rows.count)} ${GROUPINGS.find(([key]) => key === this.grouping)?.[1]}`;
    this.found.textContent = `${some} sites${what}`;
  }

  /** The scopes that are in force, each with a way out. */
  private chipsOf(): HTMLElement[] {
    const chips: HTMLElement[] = [];
    const chip = (kind: string, name: string, out: () => void) => chips.push(button(`${kind}: ${name}  ×`, { class: "chip", "aria-label": `Stop showing only ${kind} ${name}` }, out));
    if (this.scope.gem !== undefined) chip("gem", this.scope.gem, () => this.scoped({}));
    if (this.scope.place !== undefined) {
      const { gem } = this.scope;
      chip("file", this.sites.shorten(this.scope.place), () => this.scoped(gem === undefined ? {} : { gem }));
    }
    if (this.extra) chip(this.extra[0], this.extra[1], () => { this.extra = null; this.choose(); });
    return chips;
  }

  private arrange(): void {
    const column = COLUMNS.find(({ key }) => key === this.sorted) ?? "name";
    this.ordered = order(this.rows, this.ordered, column, this.ascending);
    this.active = 0;
    this.view.scrollTop = 0;
    this.table.setAttribute("aria-rowcount", String(this.ordered.length + 1));
    this.drawn = "";
    this.layOut();
  }

  private layOut(): void {
    const columns = fitting(this.view.clientWidth, this.sorted);
    this.columns = columns;
    this.head.replaceChildren(this.title("name", this.grouping === "line" ? "location" : this.grouping, ""), ...columns.map(({ key, title, meaning }) => this.title(key, title, meaning)));
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
    const first = Math.max(0, Math.floor(this.view.scrollTop / ROW) - OVERSCAN);
    const last = Math.min(this.ordered.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / ROW) + OVERSCAN);
    const now = `${first} ${last}`;
    if (now === this.drawn) return;
    this.drawn = now;
    const hadFocus = this.view.contains(document.activeElement);
    this.stop = Math.min(Math.max(this.active, first), last - 1);
    const rows = Array.from({ length: last - first }, (_, at) => this.row(first + at));
    this.body.replaceChildren(space(first), ...rows, space(this.ordered.length - last));
    if (this.ordered.length === 0) this.body.replaceChildren(this.nothing());
    if (hadFocus) (this.buttonAt(this.active) ?? this.view).focus({ preventScroll: true });
  }

  private row(at: number): HTMLElement {
    const row = this.ordered[at];
    const figures = this.columns.map((column) => {
      const value = column.value(this.rows, row);
      return el("td", { class: column.key === this.sorted ? "figure sorted" : "figure" }, column.text(value));
    });
    return el("tr", { "aria-rowindex": String(at + 2), "data-at": String(at) }, el("th", { scope: "row", class: "name" }, ...this.name(row, at)), ...figures);
  }

  private name(row: number, at: number): HTMLElement[] {
    const tab = { class: "open", tabindex: at === this.stop ? "0" : "-1" };
    if (this.rows.grouping !== "line") {
      const name = this.rows.grouping === "file" ? this.sites.shorten(this.rows.name(row)) : this.rows.name(row);
      return [el("button", { type: "button", ...tab }, el("bdi", {}, name))];
    }
    const { sites } = this;
    const via = sites.isRuby(row) && sites.library(row);
    const words = [
      ...place(sites.shortLocation(row)),
      sites.label(row) && el("span", { class: "label" }, ` ${sites.label(row)}`),
      via && el("span", { class: "via" }, ` via ${via}`),
      sites.tag(row) && el("span", { class: "tag" }, sites.tag(row)),
    ];
    const source = sites.sourceLine(row);
    return [el("button", { type: "button", title: sites.location(row), ...tab }, ...words), ...(source ? [el("code", {}, source)] : [])];
  }

  private nothing(): HTMLElement {
    return el("tr", {}, el("td", { class: "empty", colspan: String(this.columns.length + 1) }, "No site is left. Clear the filter to see all."));
  }

  private click(event: Event): void {
    const at = position(event.target);
    if (at === null || String(document.getSelection()) !== "") return;
    this.active = at;
    this.open(this.ordered[at]);
  }

  /** A line opens its detail, a group its lines. */
  private open(row: number): void {
    const { grouping } = this.rows;
    if (grouping === "line") return this.opened(row);
    const name = this.rows.name(row);
    this.grouping = "line";
    if (grouping === "gem") return this.scoped({ gem: name });
    if (grouping === "file") return this.scoped({ gem: this.sites.gem(this.rows.site(row)), place: name });
    this.extra = [grouping, name];
    this.choose();
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.view.clientHeight / ROW) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.reveal(Math.min(Math.max(this.active + step, 0), this.ordered.length - 1));
  }

  /** Scroll so that the row is whole in view, and give it the focus. */
  private reveal(at: number): void {
    const head = this.head.offsetHeight;
    const [top, bottom] = [at * ROW, (at + 1) * ROW + head];
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    else if (bottom > this.view.scrollTop + this.view.clientHeight) this.view.scrollTop = bottom - this.view.clientHeight;
    this.active = at;
    this.drawn = "";
    this.draw();
    this.buttonAt(at)?.focus({ preventScroll: true });
  }

  private buttonAt(at: number): HTMLElement | null {
    return this.body.querySelector<HTMLElement>(`tr[data-at="${at}"] button`);
  }
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
