// Bundles the widgets, readable: src/<widget>.js -> ../static/<widget>.js with its style sheet inside.
// Modules that several widgets import are bundled once, in ../static/shared.js, which defines
// `peShared`; Python puts it in front of each widget (`widgets/bundles.py`).
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const WIDGETS = [
  ...[
    "bytes",
    "explorer",
    "live",
    "partitions",
    "profile",
    "report",
    "result_pages",
    "rows",
    "side_panes",
    "sql",
    "warehouse",
  ],
];
const SHARED = ["channel", "dom", "text_format", "theme", "virtual_scroll"];

const READABLE = {
  bundle: true,
  target: "es2022",
  charset: "utf8",
  minify: false,
  legalComments: "none",
  logLevel: "warning",
  write: false,
};

/** Removes the hints of esbuild for minifiers. */
const plain = (text) => text.replaceAll("/* @__PURE__ */ ", "");

/** Writes what esbuild has made. */
const save = ({ outputFiles }) =>
  Promise.all(outputFiles.map(({ path, text }) => writeFile(path, plain(text))));

/** The names that a module exports. */
async function exportsOf(path) {
  const source = await readFile(path, "utf8");
  return [...source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
    ([, n]) => n,
  );
}

/** Takes the exports of shared modules from `peShared`. */
const fromShared = {
  name: "from-shared",
  setup(builder) {
    const filter = new RegExp(`/src/(${SHARED.join("|")})\\.js$`);
    builder.onLoad({ filter }, async ({ path }) => {
      const names = await exportsOf(path);
      return { contents: `export const { ${names.join(", ")} } = peShared;`, loader: "js" };
    });
  },
};

/** Style sheets as text, without comments and indentation. */
const styleSheets = {
  name: "style-sheets",
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      return {
        contents: text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s+/gm, ""),
        loader: "text",
      };
    });
  },
};

/** Scripts without the type of a cast, which esbuild would keep. */
const withoutCasts = {
  name: "without-casts",
  setup(builder) {
    builder.onLoad({ filter: /\/src\/\w+\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      return {
        contents: text.replace(/\/\*\* @type (?:(?!\*\/).)* \*\/\s*(?=\()/gs, ""),
        loader: "js",
      };
    });
  },
};

const exported = await Promise.all(SHARED.map((name) => exportsOf(`src/${name}.js`)));
const imports = SHARED.map(
  (name, i) => `import { ${exported[i].join(", ")} } from "./${name}.js";`,
);
const made = await build({
  ...READABLE,
  stdin: {
    contents: `${imports.join("\n")}\nexport const shared = { ${exported.flat().join(", ")} };`,
    resolveDir: "src",
  },
  format: "esm",
  plugins: [withoutCasts],
});
const text = made.outputFiles[0].text.replace(/export \{\s*shared\s*\};\n$/, "return shared;\n");
await writeFile("../static/shared.js", `const peShared = (() => {\n${plain(text)}})();\n`);

await build({
  ...READABLE,
  entryPoints: WIDGETS.map((name) => `src/${name}.js`),
  outdir: "../static",
  format: "esm",
  plugins: [fromShared, styleSheets, withoutCasts],
}).then(save);

await build({
  ...READABLE,
  entryPoints: ["src/saved_page.js"],
  outdir: "../static",
  format: "esm",
  plugins: [withoutCasts],
}).then(save);

// JupyterLab loads its extensions as plain scripts.
await build({
  ...READABLE,
  entryPoints: { remoteEntry: "src/labextension.js" },
  outdir: "../labextension/static",
  format: "iife",
  plugins: [withoutCasts],
}).then(save);
