import { randomBytes } from 'node:crypto';
import { Eta } from 'eta';
import type { ReportView } from './report-view.js';
import { escapeHtml } from './words/escape-html.js';

/** What the page is made of: templates, style and script, as the package brings them. */
export interface PageParts {
  readonly page: string;
  readonly summary: string;
  readonly style: string;
  readonly script: string;
}

/** The page in two halves: the rows go between them. */
export interface RenderedPage {
  readonly top: string;
  readonly bottom: string;
}

const eta = new Eta({ autoEscape: true, escapeFunction: (value) => escapeHtml(String(value)) });

/** The part of the page that needs no script: what happened, the figures, the charts, the failures. */
export function renderSummary(parts: PageParts, view: ReportView): string {
  return eta.renderString(parts.summary, view);
}

/**
 * @param live Served over HTTP: the policy goes into a header and lets the page ask its own server.
 */
export function renderPage(parts: PageParts, view: ReportView): RenderedPage {
  const nonce = randomBytes(16).toString('base64');
  const html = eta.renderString(parts.page, {
    name: view.name,
    nonce,
    policy: policyOf(nonce),
    summary: renderSummary(parts, view),
    style: parts.style,
    script: parts.script,
  });
  const [top = '', bottom = ''] = html.split('<!--data-->');
  return { top, bottom };
}

/** Nothing but the page itself and files beside it: no request leaves, whatever a prompt or an error says. */
function policyOf(nonce: string): string {
  return [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src data: 'self' file:`,
    `font-src data:`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}
