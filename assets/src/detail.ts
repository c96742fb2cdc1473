// One site in full: its source, what it counted, how it grew. A dialog, so that the keyboard and screen readers know
// where they are; arrow keys go to the next and the previous row.
import { chart } from "./chart";
import { type Declared, print, valueOf } from "./columns";
import type { Series, Sites } from "./data";
import { button, el } from "./dom";
import { tiles } from "./frame";
import { badge, interval, pace } from "./growth";
import { bytes, count } from "./units";

/** next: the site so many rows further; closed: called with the site that was shown last. */
export class Detail {
  readonly element = el("dialog", { "aria-labelledby": "detail-title" });
  private site = -1;

  constructor(private readonly sites: Sites, private readonly series: Series[], private readonly next: (site: number, by: number) => number | null, closed: (site: number) => void) {
    this.element.addEventListener("close", () => closed(this.site));
    this.element.addEventListener("click", (event) => { if (event.target === this.element) this.element.close(); });
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  open(site: number): void {
    this.site = site;
    const title = el("h2", { id: "detail-title", tabindex: "-1" }, el("bdi", {}, this.sites.shortLocation(site)));
    const content = el("div", { class: "sheet" }, this.head(title), this.facts(), this.source(), this.figures(), this.growth());
    this.element.replaceChildren(content);
    if (!this.element.open) this.element.showModal();
    title.focus();
  }

  private head(title: HTMLElement): HTMLElement {
    const step = (by: number, text: string, name: string): HTMLElement => {
      const made = button(text, { class: "quiet", "aria-label": name, title: name }, () => this.step(by));
      made.disabled = this.neighbour(by) === null;
      return made;
    };
    return el("header", {}, title, step(-1, "↑", "Previous row"), step(1, "↓", "Next row"),
      button("×", { class: "quiet", "aria-label": "Close", title: "Close" }, () => this.element.close()));
  }

  private facts(): HTMLElement {
    const { sites, site } = this;
    const pairs: [string, string][] = [
      ["location", sites.location(site)], ["method", sites.label(site)], ["gem", sites.gem(site)],
      sites.isObject(site) ? ["objects of", sites.className(site)] : ["malloc called by", sites.library(site) || "the Ruby VM"],
      ["tag", sites.tag(site)],
    ];
    return el("dl", { class: "facts" }, ...pairs.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, text))]));
  }

  private source(): HTMLElement | null {
    const source = this.sites.source(this.site);
    if (!source) return null;
    const lines = source.lines.map((text, at) => {
      const number = source.first + at;
      const here = number === this.sites.line(this.site);
      return el("li", { value: String(number), ...(here && { class: "here", "aria-current": "true" }) }, el("code", {}, text || " "));
    });
    return el("ol", { class: "source", "aria-label": "Source" }, ...lines);
  }

  private figures(): HTMLElement {
    const objects = this.sites.isObject(this.site);
    const cells = this.sites.columns.filter(({ unit }) => !objects || unit !== "milliseconds") // how long objects live is not known in time
      .map((column): [string, string, string] => [column.title, print(column.unit, valueOf(column, this.sites, this.site)), this.note(column)]);
    return tiles(cells);
  }

  /** What a figure is; beside what lives how large one is, beside a mean the longest. */
  private note({ figure, help, per, unit }: Declared): string {
    if (figure === "live_bytes") return this.each() ?? help;
    const longest = per !== null && this.sites.declared.find((each) => each.longest && each.unit === unit);
    if (!longest || this.sites.figures[per][this.site] === 0) return help;
    const value = this.sites.figures[longest.figure][this.site];
    return `${help}; longest ${unit === "generations" ? count(value) : print(unit, value)}`;
  }

  /** "50,000 objects, 40 B each"; null where there is none. */
  private each(): string | null {
    const { live_bytes: live, live_blocks: blocks } = this.sites.figures;
    if (blocks[this.site] <= 0) return null;
    const things = this.sites.isObject(this.site) ? "objects" : "blocks";
    return `${count(blocks[this.site])} ${things}, ${bytes(Math.round(live[this.site] / blocks[this.site]))} each`;
  }

  private growth(): HTMLElement | null {
    if (this.sites.isObject(this.site)) return null; // the log's series are malloc's
    const found = this.series.find((each) => each.location === this.sites.location(this.site) && (each.library ?? "") === this.sites.library(this.site));
    if (!found || found.points.length < 2) return null;
    const curve = { name: found.location, colour: 0, points: found.points };
    const words = ` ${pace(found)} ${interval(found) && `(${interval(found)})`}`;
    return el("div", { class: "history" }, el("p", {}, badge(found.verdict), words), chart([curve], 560, 180));
  }

  private neighbour(by: number): number | null {
    return this.next(this.site, by);
  }

  private step(by: number): void {
    const site = this.neighbour(by);
    if (site !== null) this.open(site);
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (by === undefined || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    this.step(by);
  }
}
