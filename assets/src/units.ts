// Figures as people read them, in the words of Heapline::Format::Units: decimal prefixes, three to five digits.

const PREFIXES = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/** 51200000 → "51.20 MB", -1024 → "-1.02 kB". */
export function bytes(number: number): string {
  let size = Math.abs(number);
  let prefix = 0;
  while (size >= 999.995 && prefix < PREFIXES.length - 1) {
    size /= 1000;
    prefix += 1;
  }
  const sign = number < 0 ? "-" : "";
  if (prefix === 0) return `${sign}${Math.round(size)} B`;
  const hundredths = Math.round((Math.abs(number) * 100) / 1000 ** prefix);
  return `${sign}${(hundredths / 100).toFixed(2)} ${PREFIXES[prefix]}`;
}

/** 1234567 → "1,234,567". */
export function count(number: number): string {
  return String(Math.round(number)).replace(/\d(?=(\d{3})+$)/g, "$&,");
}

/** 0.934 → "93 %"; what is less than half a percent and not nothing is "<1 %". */
export function share(part: number): string {
  if (part > 0 && part < 0.005) return "<1 %";
  return `${Math.round(part * 100)} %`;
}

/** Seconds as "0.4 s", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 03 h". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds);
  if (whole < 3600) return two(whole, 60, "min", 1, "s");
  if (whole < 86400) return two(whole, 3600, "h", 60, "min");
  return two(whole, 86400, "d", 3600, "h");
}

function two(whole: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = String(Math.floor((whole % large) / small)).padStart(2, "0");
  return `${Math.floor(whole / large)} ${largeName} ${rest} ${smallName}`;
}

/** Milliseconds, of a lifespan. */
export function milliseconds(number: number): string {
  return number < 1000 ? `${Math.round(number)} ms` : duration(number / 1000);
}

/** Bytes per hour, signed: "+1.20 MB/h". */
export function slope(bytesPerHour: number): string {
  return `${bytesPerHour > 0 ? "+" : ""}${bytes(bytesPerHour)}/h`;
}

/** Seconds as the command line takes them. */
export function seconds(at: number): string {
  return `${at.toFixed(at < 10 ? 3 : 2)} s`;
}
