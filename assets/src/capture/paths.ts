// Trees of call paths: from the outermost frame down, or from who allocated up to the callers.
import type { View } from "./data";

export class Paths {
  /** Children of a node are in `below` from `first[node]` to before `first[node + 1]`. */
  private readonly first: Uint32Array;
  private readonly below: Uint32Array;

  /** Node 0 is the root; a parent's number is below that of its children. ends: the node of each row. */
  constructor(readonly parent: ArrayLike<number>, readonly frame: ArrayLike<number>, private readonly ends: ArrayLike<number>) {
    const count = parent.length;
    this.first = new Uint32Array(count + 2);
    for (let node = 1; node < count; node++) this.first[parent[node] + 2]++;
    for (let node = 2; node < count + 2; node++) this.first[node] += this.first[node - 1];
    this.below = new Uint32Array(count);
    for (let node = 1; node < count; node++) this.below[this.first[parent[node] + 1]++] = node;
  }

  /** Of each node: what its rows and all below come to. */
  totals(values: Float64Array): Float64Array {
    const totals = new Float64Array(this.parent.length);
    values.forEach((value, row) => { totals[this.ends[row]] += value; });
    for (let node = totals.length - 1; node > 0; node--) totals[this.parent[node]] += totals[node];
    return totals;
  }

  /** The largest first; what is nothing is left out. */
  children(node: number, totals: Float64Array): number[] {
    const all = Array.from(this.below.subarray(this.first[node], this.first[node + 1])).filter((child) => totals[child] > 0);
    return all.sort((a, b) => totals[b] - totals[a] || a - b);
  }

  /** From the root to a node, both with it. */
  way(node: number): number[] {
    const way = [node];
    while (way[0] !== 0) way.unshift(this.parent[way[0]]);
    return way;
  }

  /** Of each row: does a frame of its path match? */
  hits(matching: Uint8Array): Uint8Array {
    const hit = new Uint8Array(this.parent.length);
    for (let node = 1; node < hit.length; node++) hit[node] = matching[this.frame[node]] | hit[this.parent[node]];
    return Uint8Array.from({ length: this.ends.length }, (_, row) => hit[this.ends[row]]);
  }
}

export function topDown({ nodes, rows }: View): Paths {
  return new Paths(nodes.parent, nodes.frame, rows.node);
}

export function bottomUp({ nodes, rows }: View): Paths {
  const [parent, frame] = [[0], [0]];
  const numbers = new Map<number, number>();
  const ends = rows.node.map((end) => {
    let place = 0;
    for (let node = end; node !== 0; node = nodes.parent[node]) {
      const key = place * nodes.frame.length + nodes.frame[node];
      let found = numbers.get(key);
      if (found === undefined) {
        numbers.set(key, (found = parent.length));
        parent.push(place);
        frame.push(nodes.frame[node]);
      }
      place = found;
    }
    return place;
  });
  return new Paths(parent, frame, ends);
}
