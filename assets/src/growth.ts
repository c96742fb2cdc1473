// Growth over time, from a log: the largest series on one chart, and all of them with verdict and slope.
import { chart, sparkline } from "./chart";
import type { Series, Verdict } from "./data";
import { button, el, section } from "./dom";
import { bytes, slope } from "./units";

const CHARTED = 6;
const FIRST = 12; // series shown before the rest is asked for
const MEANINGS: Record<Verdict, string> = {
  leak: "keeps growing across GC generations",
  cache: "grew and reached a plateau",
  bloat: "grew in one step",
  churn: "is freed young",
  steady: "does not grow",
};

/** shorten: a location as the table shows it. */
export function growth(series: Series[], shorten: (location: string) => string): HTMLElement {
  const plot = el("div", { class: "plot" });
  const list = el("ul", { class: "series" });
  const more = button("", { class: "more" }, () => { all = true; draw(); });
  const verdicts = verdictsOf(series).map(([verdict, number]) => button(`${number} ${verdict}`, { class: `badge verdict-${verdict}`, "aria-pressed": "false", title: MEANINGS[verdict] }, () => choose(verdict)));
  let chosen: Verdict | null = null;
  let all = false;
  let shown = series;

  const choose = (verdict: Verdict): void => {
    chosen = chosen === verdict ? null : verdict;
    for (const each of verdicts) each.ariaPressed = String(chosen !== null && each.classList.contains(`verdict-${chosen}`));
    draw();
  };
  const draw = (): void => {
    shown = series.filter((each) => chosen === null || each.verdict === chosen);
    const rows = shown.slice(0, all ? shown.length : FIRST).map((each, at) => entry(each, at, shorten));
    list.replaceChildren(...rows);
    more.hidden = rows.length === shown.length;
    more.textContent = `Show ${shown.length - rows.length} more`;
    plotted();
  };
  const plotted = (): void => {
    const curves = shown.slice(0, CHARTED).map((each, colour) => ({ name: each.location, colour, points: each.points }));
    if (plot.clientWidth > 0) plot.replaceChildren(chart(curves, plot.clientWidth, plot.clientHeight));
  };
  new ResizeObserver(plotted).observe(plot);
  draw();
  if (series.length === 0) return section("growth", "Growth over time", el("p", { class: "note" }, "The log holds no series yet."));
  return section("growth", "Growth over time", el("div", { class: "verdicts", role: "group", "aria-label": "Verdicts to show" }, ...verdicts), plot, list, more);
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
    el("div", { class: "what", title: each.location }, el("bdi", { class: "place" }, shorten(each.location)), el("span", { class: "label" }, facts)),
    badge(each.verdict),
    el("span", { class: "figure slope" }, each.slope === null ? "-" : slope(each.slope), el("small", {}, interval(each))),
    el("span", { class: "figure" }, bytes(each.live_bytes), el("small", {}, "live")),
  );
}

export function badge(verdict: Verdict): HTMLElement {
  return el("span", { class: `badge verdict-${verdict}`, title: MEANINGS[verdict] ?? "" }, verdict);
}

/** The interval of the slope, as small print. */
export function interval(each: Series): string {
  if (each.slope_low === null || each.slope_high === null) return "";
  return `${bytes(each.slope_low)} … ${bytes(each.slope_high)}`;
}

function processes(each: Series): string | null {
  return each.processes !== null && each.processes > 1 ? `${each.processes} processes` : null;
}
