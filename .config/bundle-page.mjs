// Bundles the report's page for browsers: one script, and one style sheet with its fonts inside.
import { buildSync } from 'esbuild';

/** @returns {{ script: string, style: string }} */
export function bundlePage() {
  const page = new URL('../runners/report/page/', import.meta.url).pathname;
  const bundle = (entry) =>
    buildSync({
      entryPoints: [`${page}${entry}`],
      bundle: true,
      write: false,
      minify: true,
      format: 'iife',
      target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
      loader: { '.woff2': 'dataurl' },
    }).outputFiles[0].text;
  return { script: bundle('start-page.ts'), style: bundle('report.css') };
}
