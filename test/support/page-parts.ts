import { readFileSync } from 'node:fs';
import type { PageParts } from '../../runners/report/render-page.js';

/** The report's page out of its sources, without a build. */
export async function pageParts(): Promise<PageParts> {
  const bundler = new URL('../../.config/bundle-page.mjs', import.meta.url).href;
  const { bundlePage } = (await import(bundler)) as { bundlePage: () => { script: string; style: string } };
  const read = (name: string): string => readFileSync(new URL(`../../runners/report/page/${name}`, import.meta.url), 'utf8');
  return { ...bundlePage(), page: read('page.eta'), summary: read('summary.eta') };
}
