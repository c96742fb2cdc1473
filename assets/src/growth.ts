// Growth over time, from a log: the largest series on one chart, and all of them with verdict and slope.
import { type Curve, chart, sparkline } from "./chart";
import type { Growth, Series, Slope, Verdict } from "./data";
import { button, el, place, section } from "./dom";
import { bytes, slope } from "./units";

const CHARTED = 6;
const FIRST = 12; // series shown before the rest is asked for
const MEANINGS: Record<Verdict, string> = {
  leak: "keeps growing across GC generations",
  cache: "grew, and stopped",
  bloat: "grew in one step",
  churn: "dies young, and much of it",
  steady: "does not grow",
  unsure: "the log is too short to tell",
};

/** shorten: a location as the table shows it. */
export function growth({ facts, memory, series }: Growth, shorten: (location: string) => string): HTMLElement {
  const parts = [el("p", { class: "note" }, facts.join(" · ")), ...whole(memory), ...sites(series, shorten)];
  return section("growth", "Growth over time", ...parts);
}

/** What the processes' own memory did. */
function whole(memory: Growth["memory"]): HTMLElement[] {
  if (memory.length === 0) return [];
  const plot = new Plot("plot low");
  plot.show(memory.map(({ name, points }, colour) => ({ name, colour, points })));
  const legend = memory.map((each, colour) =>
    el("li", {}, el("span", { class: `swatch swatch-${colour}` }), `${each.name} ${change(each)}`));
  return [el("h3", {}, "The processes"), el("ul", { class: "legend" }, ...legend), plot.element];
}

/** The largest series on one chart, a row each; of all verdicts or of one. */
function sites(series: Series[], shorten: (location: string) => string): HTMLElement[] {
  if (series.length === 0) return [el("p", { class: "note" }, "The log holds no site yet.")];
  const plot = new Plot("plot");
  const list = el("ul", { class: "series" });
  const more = button("", { class: "more" }, () => { all = true; draw(); });
  const verdicts = verdictsOf(series).map(([verdict, number]) =>
    button(`${number} ${verdict}`, { class: `badge verdict-${verdict}`, "aria-pressed": "false", title: MEANINGS[verdict] }, () => choose(verdict)));
  let chosen: Verdict | null = null;
  let all = false;

  const choose = (verdict: Verdict): void => {
    chosen = chosen === verdict ? null : verdict;
    for (const each of verdicts) each.ariaPressed = String(chosen !== null && each.classList.contains(`verdict-${chosen}`));
    draw();
  };
  const draw = (): void => {
    const shown = series.filter((each) => chosen === null || each.verdict === chosen);
    const rows = shown.slice(0, all ? shown.length : FIRST).map((each, at) => entry(each, at, shorten));
    list.replaceChildren(...rows);
    more.hidden = rows.length === shown.length;
    more.textContent = `Show ${shown.length - rows.length} more`;
    plot.show(shown.slice(0, CHARTED).map((each, colour) => ({ name: each.location, colour, points: each.points })));
  };
  draw();
  return [el("h3", {}, "The sites"), el("div", { class: "verdicts", role: "group", "aria-label": "Verdicts to show" }, ...verdicts), plot.element, list, more];
}

/** A chart that is as wide as there is room. */
class Plot {
  readonly element: HTMLElement;
  private curves: Curve[] = [];

  constructor(name: string) {
    this.element = el("div", { class: name });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(curves: Curve[]): void {
    this.curves = curves;
    this.draw();
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width > 0) this.element.replaceChildren(chart(this.curves, width, height));
  }
}

/** How many series have each verdict, in the order of concern. */
function verdictsOf(series: Series[]): [Verdict, number][] {
  const verdicts = Object.keys(MEANINGS) as Verdict[];
  const counts = verdicts.map((verdict): [Verdict, number] => [verdict, series.filter((each) => each.verdict === verdict).length]);
  return counts.filter(([, number]) => number > 0);
}

function entry(each: Series, at: number, shorten: (location: string) => string): HTMLElement {
  const facts = [each.label, each.library && `via ${each.library}`, each.gem, each.tag, processes(each)].filter(Boolean).join(" · ");
  return el(
    "li", {},
    sparkline(each.points, Math.min(at, CHARTED)),
    el("div", { class: "what", title: each.location }, el("div", { class: "where" }, ...place(shorten(each.location))), el("span", { class: "label" }, facts)),
    badge(each.verdict),
    el("span", { class: "figure slope" }, pace(each), el("small", {}, interval(each))),
    el("span", { class: "figure" }, bytes(each.live_bytes), el("small", {}, "live")),
  );
}

export function badge(verdict: Verdict): HTMLElement {
  return el("span", { class: `badge verdict-${verdict}`, title: MEANINGS[verdict] ?? "" }, verdict);
}

/** The slope; "?" where the log is too short for one. */
export function pace(each: Slope): string {
  return each.slope === null || each.slope_low === null ? "?" : slope(each.slope);
}

/** A range in place of a slope that may be of either sign. */
function change(each: Slope): string {
  const { slope_low: low, slope_high: high } = each;
  const sure = low === null || high === null || low > 0 || high < 0 || low === high;
  return sure ? pace(each) : `${interval(each)} an hour`;
}

/** The interval of the slope, as small print. */
export function interval(each: Slope): string {
  if (each.slope_low === null || each.slope_high === null) return "";
  return `${bytes(each.slope_low)} … ${bytes(each.slope_high)}`;
}

function processes(each: Series): string | null {
  return each.processes !== null && each.processes > 1 ? `${each.processes} processes` : null;
}
