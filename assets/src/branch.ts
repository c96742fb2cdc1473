// A tree whose branches have a weight: what a treemap shows.

export interface Branch {
  /** What it is found by among its siblings. */
  key: string;
  name: string;
  value: number;
  /** Number of what stands behind a leaf; of what is none -1. */
  leaf: number;
  children: Branch[];
  /** How many small branches were put together here; 0: this is one of its own. */
  merged: number;
}

export function branch(name: string, value = 0, leaf = -1): Branch {
  return { key: name, name, value, leaf, children: [], merged: 0 };
}

/** As heavy as its children. */
export function parent(name: string, children: Branch[]): Branch {
  return { ...branch(name, children.reduce((sum, child) => sum + child.value, 0)), children };
}

/** At most `limit` branches, largest first; the last one is the sum of the rest. */
export function largest(branches: Branch[], limit: number): Branch[] {
  const sorted = [...branches].sort((a, b) => b.value - a.value);
  if (sorted.length <= limit) return sorted;
  const rest = sorted.slice(limit - 1);
  const sum = rest.reduce((total, each) => total + each.value, 0);
  return [...sorted.slice(0, limit - 1), { ...branch(`${rest.length} smaller ones`, sum), merged: rest.length }];
}

/** The end of a path, where there is room with its directory. */
export function tail(path: string, width: number): string {
  return path.split("/").slice(width > 150 ? -2 : -1).join("/");
}
