import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { imageEditPrices, toUsd } from 'millrace';

export interface PageFiles {
  readonly html: string;
  readonly script: string;
  readonly style: string;
}

/** The page's sources as a browser takes them; the price list goes in with them. */
export async function bundlePage(folder: string): Promise<PageFiles> {
  const prices = Object.entries(imageEditPrices).map(([name, price]) => [name, toUsd(price)]);
  const { outputFiles } = await build({
    entryPoints: ['studio-page.ts', 'studio.css'].map((name) => join(folder, name)),
    bundle: true,
    write: false,
    minify: true,
    outdir: folder,
    loader: { '.woff2': 'dataurl' },
    charset: 'utf8',
    format: 'iife',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    define: { PRICES_USD: JSON.stringify(Object.fromEntries(prices)) },
    logLevel: 'error',
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  return { html, script: textOf('.js'), style: textOf('.css') };
}
