// One site in full: its source, what it counted, how it grew. A dialog, so that the keyboard and screen readers know
// where they are; arrow keys go to the next and the previous row.
import { chart } from "./chart";
import type { Series, Sites } from "./data";
import { button, el } from "./dom";
import { tiles } from "./frame";
import { badge, interval } from "./growth";
import { bytes, count, milliseconds, share, slope } from "./units";

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
    const of = (name: keyof Sites["figures"]): number => this.sites.figures[name][this.site];
    const [frees, blocks, calls] = [of("frees"), of("live_blocks"), of("allocations")];
    const objects = this.sites.isObject(this.site);
    const things = objects ? "objects" : "blocks";
    const cells: [string, string, string][] = [
      ["live", bytes(of("live_bytes")), `${count(blocks)} ${things}${blocks > 0 ? `, ${bytes(Math.round(of("live_bytes") / blocks))} each` : ""}`],
      ["growth", bytes(of("growth_bytes")), "live now less at the baseline"],
      ["retained", bytes(of("retained_bytes")), "since the baseline, still live"],
      ["allocated", bytes(of("bytes_allocated")), objects ? `${count(calls)} objects` : `${count(calls)} calls`],
      ["freed", count(frees), things],
      ["temporary", calls > 0 ? share(of("temporary") / calls) : "-", "of the allocations"],
      ["lifespan", frees > 0 ? `${(of("age_sum") / frees).toFixed(1)} GCs` : "-", frees > 0 ? `mean; longest ${count(of("age_max"))}` : "nothing was freed"],
      ...(objects ? [] : [lived(frees, of("age_ms_sum"), of("age_ms_max"))]),
    ];
    return tiles(cells);
  }

  private growth(): HTMLElement | null {
    if (this.sites.isObject(this.site)) return null; // the log's series are malloc's
    const found = this.series.find((each) => each.location === this.sites.location(this.site) && (each.library ?? "") === this.sites.library(this.site));
    if (!found || found.points.length < 2) return null;
    const curve = { name: found.location, colour: 0, points: found.points };
    const words = found.slope === null ? "" : ` ${slope(found.slope)} ${interval(found) && `(${interval(found)})`}`;
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

/** How long freed blocks lived, in time: it is not known of objects. */
function lived(frees: number, sum: number, most: number): [string, string, string] {
  return ["lived", frees > 0 ? milliseconds(sum / frees) : "-", frees > 0 ? `mean; longest ${milliseconds(most)}` : ""];
}
