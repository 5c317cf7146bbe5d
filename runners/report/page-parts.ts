import { readFile } from 'node:fs/promises';
import type { PageParts } from './render-page.js';

/** The parts as the build left them in dist/runners/report/page, seen from there and from where the command line is bundled. */
export async function readPageParts(): Promise<PageParts> {
  const read = (name: string): Promise<string> =>
    readFile(new URL(`../report/page/${name}`, import.meta.url), 'utf8');
  const [page, summary, flight, style, script] = await Promise.all(
    ['page.eta', 'summary.eta', 'flight.eta', 'bundle.css', 'bundle.js'].map(read),
  );
  return {
    page: page ?? '',
    summary: summary ?? '',
    flight: flight ?? '',
    style: style ?? '',
    script: script ?? '',
  };
}
