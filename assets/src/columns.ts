// The columns of tables, as the library declares them (Heapline::Figures::Columns): here is only how one of a unit is reckoned and printed.
import type { Column } from "./grid";
import { bytes, count, milliseconds, share } from "./units";

export type Unit = "bytes" | "count" | "generations" | "milliseconds" | "share";

const PRINT: Record<Unit, (value: number) => string> = {
  bytes, count, share, milliseconds, generations: (value) => value.toFixed(1),
};
/** The least width, of those of grid.ts, at which the first of the columns by rank, the second … are shown. */
const WIDTHS = [1, 2, 3, 3, 4, 5, 5, 6, 6];

export function print(unit: Unit, value: number): string {
  return value < 0 && unit !== "bytes" && unit !== "count" ? "-" : PRINT[unit](value);
}

/** What is declared of a figure, or with `per` of so much of it for each of those: columns of a table have a key. */
export interface Declared {
  key: string | null;
  title: string;
  unit: Unit;
  help: string;
  /** What goes first where there is little room has the largest one. */
  rank: number | null;
  figure: string;
  per: string | null;
}

/** What a table is of: figures by their name and by row. whole: what a share that is of no other figure is of. */
export interface Figured {
  figures: Record<string, ArrayLike<number>>;
  whole?: number;
}

/** -1 where it is so much for each of nothing: it sorts last and prints as "-". */
export function valueOf({ figure, per, unit }: Declared, { figures, whole }: Figured, row: number): number {
  if (per === null) return unit === "share" ? figures[figure][row] / Math.max(whole ?? 0, 1) : figures[figure][row];
  return figures[per][row] === 0 ? -1 : figures[figure][row] / figures[per][row];
}

/** Of what is declared what is a column of the table. */
export function columns(declared: Declared[]): Column<Figured>[] {
  return declared.filter(({ key }) => key !== null).map((column) => ({
    key: column.key ?? "",
    title: column.title,
    meaning: column.help,
    rank: WIDTHS[(column.rank ?? WIDTHS.length + 1) - 1] ?? Math.max(...WIDTHS),
    value: (rows, row) => valueOf(column, rows, row),
    text: (value) => print(column.unit, value),
  }));
}
