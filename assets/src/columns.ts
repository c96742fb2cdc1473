// The table's columns: what each is called, what it means, by what it sorts and how it is printed.
import type { Column } from "./grid";
import type { Rows } from "./rows";
import { bytes, count, share } from "./units";

const sum = (figure: keyof Rows["figures"]) => (rows: Rows, row: number): number => rows.figures[figure][row];
/** -1 where nothing was freed yet: it sorts last and prints as "-". */
const ofFrees = (figure: keyof Rows["figures"]) => (rows: Rows, row: number): number =>
  rows.figures.frees[row] === 0 ? -1 : rows.figures[figure][row] / rows.figures.frees[row];
const ofAllocations = (rows: Rows, row: number): number =>
  rows.figures.allocations[row] === 0 ? -1 : rows.figures.temporary[row] / rows.figures.allocations[row];
const unless = (print: (value: number) => string) => (value: number): string => (value < 0 ? "-" : print(value));

export const COLUMNS: Column<Rows>[] = [
  { key: "growth", title: "growth", meaning: "Live now less live at the baseline", rank: 1, value: sum("growth_bytes"), text: bytes },
  { key: "live", title: "live", meaning: "Allocated and not freed; of Ruby objects their slots", rank: 2, value: sum("live_bytes"), text: bytes },
  { key: "retained", title: "retained", meaning: "Allocated after the baseline and still live", rank: 6, value: sum("retained_bytes"), text: bytes },
  { key: "blocks", title: "blocks", meaning: "Live blocks, or objects", rank: 3, value: sum("live_blocks"), text: count },
  { key: "bytes", title: "allocated", meaning: "Bytes of all allocations, freed ones too", rank: 4, value: sum("bytes_allocated"), text: bytes },
  { key: "allocs", title: "allocs", meaning: "Allocations", rank: 5, value: sum("allocations"), text: count },
  { key: "frees", title: "frees", meaning: "Blocks freed", rank: 7, value: sum("frees"), text: count },
  { key: "temporary", title: "temporary", meaning: "Allocations that were freed within the GC generation of their birth or the next", rank: 5, value: ofAllocations, text: unless(share) },
  { key: "life", title: "life GCs", meaning: "Mean lifespan of the freed blocks in GC generations", rank: 3, value: ofFrees("age_sum"), text: unless((value) => value.toFixed(1)) },
];
