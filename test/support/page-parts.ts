import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PageParts } from '../../runners/report/render-page.js';

/** The report's page out of its sources, without a build. From the project's folder, where all tests and scripts run. */
export async function pageParts(): Promise<PageParts> {
  const bundler = pathToFileURL(resolve('.config/bundle-page.mjs')).href;
  const { bundlePage } = (await import(bundler)) as { bundlePage: () => { script: string; style: string } };
  const read = (name: string): string => readFileSync(resolve('runners/report/page', name), 'utf8');
  return {
    ...bundlePage(),
    page: read('page.eta'),
    summary: read('summary.eta'),
    figures: read('figures.eta'),
    flight: read('flight.eta'),
  };
}
