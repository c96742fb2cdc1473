// Live bytes over time as SVG: lines on shared axes, or one alone as a sparkline.
import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { svg } from "./dom";
import { bytes } from "./units";

type Point = [number, number];

export interface Curve {
  name: string;
  colour: number;
  points: Point[];
}

const MARGIN = { top: 8, right: 12, bottom: 24, left: 72 };

/** Curves over seconds since the first point of the log. */
export function chart(curves: Curve[], width: number, height: number): SVGElement {
  const points = curves.flatMap((curve) => curve.points);
  const last = Math.max(...points.map((point) => point[0]), 1);
  const unit = timeUnit(last);
  const x = scaleLinear().domain([0, last / unit.seconds]).range([MARGIN.left, width - MARGIN.right]);
  const y = scaleLinear().domain([0, Math.max(...points.map(([, live]) => live), 1)]).nice(4).range([height - MARGIN.bottom, MARGIN.top]);
  const path = line<Point>((point) => x(point[0] / unit.seconds), (point) => y(point[1]));
  return svg(
    "svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Live bytes over time: ${curves.map((curve) => curve.name).join(", ")}` },
    ...y.ticks(4).flatMap((tick) => [
      svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: MARGIN.left - 8, y: y(tick), dy: "0.32em", "text-anchor": "end" }, bytes(tick)),
    ]),
    ...x.ticks(Math.max(2, Math.floor(width / 110))).map((tick) =>
      svg("text", { class: "tick", x: x(tick), y: height - 6, "text-anchor": "middle" }, `${tick} ${unit.name}`)),
    ...curves.map((curve) => svg("path", { class: `curve curve-${curve.colour}`, d: path(curve.points) ?? "" }, svg("title", {}, curve.name))),
  );
}

/** One curve without axes, from 0 to its largest. */
export function sparkline(points: Point[], colour: number, width = 120, height = 28): SVGElement {
  const last = points.at(-1)?.[0] ?? 1;
  const x = scaleLinear().domain([0, Math.max(last, 1)]).range([1, width - 1]);
  const y = scaleLinear().domain([0, Math.max(...points.map(([, live]) => live), 1)]).range([height - 1, 2]);
  const top = line<Point>((point) => x(point[0]), (point) => y(point[1]));
  const below = area<Point>((point) => x(point[0]), height - 1, (point) => y(point[1]));
  return svg(
    "svg", { class: "sparkline", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    svg("path", { class: `below curve-${colour}`, d: below(points) ?? "" }),
    svg("path", { class: `curve curve-${colour}`, d: top(points) ?? "" }),
  );
}

function timeUnit(seconds: number): { name: string; seconds: number } {
  const units: [string, number][] = [["d", 86400], ["h", 3600], ["min", 60]];
  const [name, size] = units.find(([, each]) => seconds >= 2 * each) ?? ["s", 1];
  return { name, seconds: size };
}
