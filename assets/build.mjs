// Bundles src/ into report.js and report.css in the folder that is the argument. The same sources and the same lock file
// give the same bytes: no source map, no date, no path.
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
const script = await build({ ...options, entryPoints: ["src/main.ts"], format: "iife" });
const style = await build({ ...options, entryPoints: ["src/report.css"] });

// The licences of what was bundled go where the bundle goes. Packages that share a text are named above it.
const names = new Set(
  Object.keys(script.metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path.split(sep).join("/"))?.[1]),
);
const byText = new Map();
for (const name of [...names].filter(Boolean).sort()) {
  const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim();
  byText.set(text, [...(byText.get(text) ?? []), name]);
}
const notices = [...byText].map(([text, packages]) => `${packages.join(", ")}:\n${text}`).join("\n\n");

writeFileSync(join(out, "report.js"), `/* Contains\n\n${notices}\n*/\n${script.outputFiles[0].text}`);
writeFileSync(join(out, "report.css"), style.outputFiles[0].text);
