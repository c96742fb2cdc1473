// The table of sites or groups: filtered, scoped, grouped.
import { columns } from "./columns";
import type { Sites } from "./data";
import { button, el, place, section, select } from "./dom";
import { Grid } from "./grid";
import { KINDS, type Kind } from "./kind";
import { Filter, type Grouping, type Rows, groups, lines } from "./rows";
import type { Scope } from "./tree";
import { count } from "./units";

const GROUPINGS: [Grouping, string][] = [["line", "lines"], ["file", "files"], ["gem", "gems"], ["library", "libraries"], ["tag", "tags"]];
const OBJECT_GROUPINGS: [Grouping, string][] = [...GROUPINGS, ["class", "classes"]];

/** opened: called with the number of a site that was chosen; scoped: with a scope that was chosen here. */
export class Table {
  readonly element: HTMLElement;
  private readonly search = el("input", { type: "search", placeholder: "Filter: file, method, gem, library…", "aria-label": "Filter the table", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
  private readonly found = el("p", { class: "found", role: "status" });
  private readonly chips = el("div", { class: "chips" });
  private readonly groupChoice: HTMLElement;
  private readonly filter: Filter;
  private readonly everyLine: Rows;
  private readonly grid: Grid<Rows>;

  private grouping: Grouping = "line";
  private scope: Scope = {};
  private kind: Kind | "" = "";
  private extra: ["library" | "tag" | "class", string] | null = null;
  private rows: Rows;

  constructor(private readonly sites: Sites, sort: string | null, private readonly opened: (site: number) => void, private readonly scoped: (scope: Scope) => void) {
    this.filter = new Filter(sites);
    this.rows = this.everyLine = lines(sites);
    this.grid = new Grid<Rows>(columns(sites.columns), sort ?? "growth", this.rows, {
      caption: "Sites that allocated memory",
      nothing: "No site is left. Clear the filter to see all.",
      title: ({ grouping }) => (grouping === "line" ? "location" : grouping),
      name: (rows, row, attributes) => this.name(rows, row, attributes),
      open: (_, row) => this.open(row),
    });
    this.groupChoice = select("Show", sites.hasObjects ? OBJECT_GROUPINGS : GROUPINGS, (key) => this.group(key as Grouping));
    const kinds = sites.hasObjects && select("Of", KINDS, (key) => this.show(key as Kind | ""));
    this.element = section("sites", "By line", el("div", { class: "toolbar" }, this.search, kinds, this.groupChoice, this.grid.sortChoice), this.chips, this.found, this.grid.element);
    this.search.addEventListener("input", () => this.choose());
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
    return this.rows.grouping === "line" ? this.grid.neighbour(site, by) : null;
  }

  /** Put the focus on the row of a site. */
  focusSite(site: number): void {
    this.grid.focus(site);
  }

  private group(grouping: Grouping): void {
    this.grouping = grouping;
    this.choose();
  }

  private show(kind: Kind | ""): void {
    this.kind = kind;
    this.choose();
  }

  private choose(): void {
    const chosen = this.filter.choose(this.search.value, this.kind, this.scope, this.extra);
    this.rows = this.grouping === "line" ? this.everyLine : groups(this.sites, this.grouping, chosen);
    const list = this.groupChoice.querySelector("select");
    if (list) list.value = this.grouping;
    this.chips.replaceChildren(...this.chipsOf());
    this.say(chosen.length);
    this.grid.show(this.rows, this.grouping === "line" ? chosen : Uint32Array.from({ length: this.rows.count }, (_, row) => row));
  }

  private say(chosen: number): void {
    const all = count(this.sites.count);
    const some = chosen === this.sites.count ? all : `${count(chosen)} of ${all}`;
    const what = this.grouping === "line" ? "" : `, in ${count(this.rows.count)} ${OBJECT_GROUPINGS.find(([key]) => key === this.grouping)?.[1]}`;
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

  private name(rows: Rows, row: number, attributes: Record<string, string>): HTMLElement[] {
    if (rows.grouping !== "line") {
      const name = rows.grouping === "file" ? this.sites.shorten(rows.name(row)) : rows.name(row);
      return [el("button", { type: "button", ...attributes }, el("bdi", {}, name))];
    }
    const { sites } = this;
    const via = sites.isRuby(row) && sites.library(row);
    const words = [
      ...place(sites.shortLocation(row)),
      sites.isObject(row) && el("span", { class: "class" }, ` ${sites.className(row)}`),
      sites.label(row) && el("span", { class: "label" }, ` ${sites.label(row)}`),
      via && el("span", { class: "via" }, ` via ${via}`),
      sites.tag(row) && el("span", { class: "tag" }, sites.tag(row)),
    ];
    const source = sites.sourceLine(row);
    return [el("button", { type: "button", title: sites.location(row), ...attributes }, ...words), ...(source ? [el("code", {}, source)] : [])];
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
}
