// Bundles src/ into a script for each page and report.css in the folder that is the argument. The same sources and the same lock
// file give the same bytes: no source map, no date, no path.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs FOLDER");

const options = {
  absWorkingDir: here,
  bundle: true,
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  minify: true,
  preserveSymlinks: true,
  target: ["chrome111", "firefox113", "safari16.4"],
  write: false,
};
const style = await build({ ...options, entryPoints: ["src/report.css"] });
writeFileSync(join(out, "report.css"), style.outputFiles[0].text);
const pages = [["report.js", "src/main.ts"], ...["heap", "leaks", "capture"].map((page) => [`${page}.js`, `src/${page}/main.ts`])];
for (const [name, entry] of pages) {
  const script = await build({ ...options, entryPoints: [entry], format: "iife" });
  const notice = notices(script.metafile);
  writeFileSync(join(out, name), `${notice && `/* Contains\n\n${notice}\n*/\n`}${script.outputFiles[0].text}`);
}

/** The licences of what was bundled go where the bundle goes. Packages that share a text are named above it. */
function notices(metafile) {
  const names = new Set(
    Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path.split(sep).join("/"))?.[1]),
  );
  const byText = new Map();
  for (const name of [...names].filter(Boolean).sort()) {
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim();
    byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  return [...byText].map(([text, packages]) => `${packages.join(", ")}:\n${text}`).join("\n\n");
}
