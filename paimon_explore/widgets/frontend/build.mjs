// Bundles every widget: src/<widget>.js -> ../static/<widget>.js, readable, with its style sheet inside.
import { build } from "esbuild";

const WIDGETS = ["bytes", "explorer", "sheet"];

await build({
  entryPoints: WIDGETS.map((name) => `src/${name}.js`),
  outdir: "../static",
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: false,
  legalComments: "none",
  loader: { ".css": "text" },
  logLevel: "warning",
});
