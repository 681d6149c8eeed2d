// node build.mjs [DIR]: builds page.js and page.css into DIR, or into the Python package.
// node build.mjs --tests: builds the unit tests into build/.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

// What the built files were made from; tests/browser/test_page_build.py computes the same.
function sourceHash() {
  const hash = createHash("sha256");
  const sources = readdirSync(join(here, "src")).sort().map((name) => `src/${name}`);
  for (const name of [...sources, "build.mjs", "package-lock.json"]) {
    hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  }
  return hash.digest("hex");
}

async function buildPage(folder) {
  const banner = `/* folioreel: built from frontend/, do not edit. Sources sha256 ${sourceHash()} */`;
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [join(here, "src/main.ts"), join(here, "src/page.css")],
    outdir: folder,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    banner: { js: banner, css: banner },
  });
  renameSync(join(folder, "main.js"), join(folder, "page.js"));
}

async function buildTests() {
  const names = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: names.map((name) => join(here, "test", name)),
    outdir: join(here, "build"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
  });
}

const [argument] = process.argv.slice(2);
if (argument === "--tests") await buildTests();
else await buildPage(argument ?? join(here, "../src/folioreel/export/page"));
