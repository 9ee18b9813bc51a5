// Bundles every widget: src/<widget>.js -> ../static/<widget>.js, readable, with its style sheet inside.
import { build } from "esbuild";

const WIDGETS = ["bytes", "explorer", "saved", "sheet"];

const READABLE = {
  bundle: true,
  target: "es2022",
  charset: "utf8",
  minify: false,
  legalComments: "none",
  logLevel: "warning",
};

await build({
  ...READABLE,
  entryPoints: WIDGETS.map((name) => `src/${name}.js`),
  outdir: "../static",
  format: "esm",
  loader: { ".css": "text" },
});

// JupyterLab loads its extensions as plain scripts.
await build({
  ...READABLE,
  entryPoints: { remoteEntry: "src/labextension.js" },
  outdir: "../labextension/static",
  format: "iife",
});
