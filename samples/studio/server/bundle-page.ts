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
    entryPoints: { studio: join(folder, 'main.ts') },
    bundle: true,
    write: false,
    minify: true,
    outdir: folder,
    charset: 'utf8',
    format: 'iife',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    define: { PRICES_USD: JSON.stringify(Object.fromEntries(prices)) },
    logLevel: 'error',
  });
  const [html, style] = await Promise.all(
    ['index.html', 'studio.css'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  return { html: html ?? '', script: outputFiles[0]?.text ?? '', style: style ?? '' };
}
