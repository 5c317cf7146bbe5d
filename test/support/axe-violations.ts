import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe has against a page as it stands: a rule each, with the first places that break it. */
export async function axeViolations(page: Page): Promise<string[]> {
  // A page's own policy lets no script in: the checker comes through the debugger, as the browser's own tools do.
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes.slice(0, 3).map(({ target, html }) => target.join(' ') + ' ' + html.slice(0, 200)).join(', ')))`,
  );
}
