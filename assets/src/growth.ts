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
  const rows = series.map((each, at) => entry(each, at, shorten));
  const list = el("ul", { class: "series" }, ...rows.slice(0, FIRST));
  const more = rows.length > FIRST && button(`Show ${rows.length - FIRST} more`, { class: "more" }, () => {
    list.append(...rows.slice(FIRST));
    if (more) more.remove();
    rows[FIRST].querySelector<HTMLElement>("[tabindex]")?.focus();
  });
  const curves = series.slice(0, CHARTED).map((each, colour) => ({ name: each.location, colour, points: each.points }));
  new ResizeObserver(() => {
    if (plot.clientWidth > 0) plot.replaceChildren(chart(curves, plot.clientWidth, plot.clientHeight));
  }).observe(plot);
  return section("growth", "Growth over time", el("p", { class: "note" }, tally(series)), plot, list, more);
}

/** "2 leaks, 1 cache: …", in the order of concern. */
function tally(series: Series[]): string {
  const verdicts = Object.keys(MEANINGS) as Verdict[];
  const counts = verdicts.map((verdict) => [verdict, series.filter((each) => each.verdict === verdict).length] as const);
  const words = counts.filter(([, number]) => number > 0).map(([verdict, number]) => `${number} ${verdict}`);
  return words.length > 0 ? `Verdicts: ${words.join(" · ")}.` : "The log holds no series yet.";
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
