import { randomBytes } from 'node:crypto';
import { Eta } from 'eta';
import { readFile } from 'node:fs/promises';
import type { ReportView } from './report-view.js';
import type { FlightView } from './watch/view-flight.js';
import { escapeHtml } from './messages/escape-html.js';

/** The parts of the page: templates, style and script, as the package contains them. */
export interface PageParts {
  readonly page: string;
  readonly summary: string;
  readonly figures: string;
  readonly flight: string;
  readonly style: string;
  readonly script: string;
}

/** The page in two halves, with the rows between them. */
interface RenderedPage {
  readonly top: string;
  readonly bottom: string;
  /** The content security policy, for a header. */
  readonly policy: string;
}

const eta = new Eta({ autoEscape: true, escapeFunction: (value) => escapeHtml(String(value)) });

/** The part of the page above the gallery: what happened, and what to do. Needs no script. */
export function renderSummary(parts: PageParts, view: ReportView, flight?: FlightView): string {
  return eta.renderString(parts.summary, {
    ...view,
    flight: flight === undefined ? '' : renderFlight(parts, flight),
  });
}

/** The part of the page below the gallery: money, times and charts. Needs no script. */
export function renderFigures(parts: PageParts, view: ReportView): string {
  return eta.renderString(parts.figures, view);
}

/** The part of the live page about rows that have not ended. */
export function renderFlight(parts: PageParts, view: FlightView): string {
  return eta.renderString(parts.flight, view);
}

interface PageExtras {
  /** Set for the live page, which is served over HTTP: its policy is a header, and lets it connect to its server. */
  readonly flight?: FlightView;
  /** The state that the report shows (`runState`), for the next report. @defaultValue '', which is not written */
  readonly state?: string;
}

export function renderPage(
  parts: PageParts,
  view: ReportView,
  { flight, state = '' }: PageExtras = {},
): RenderedPage {
  const isLive = flight !== undefined;
  const nonce = randomBytes(16).toString('base64');
  const policy = isLive
    ? `${policyOf(nonce, `'self'`)}; connect-src 'self'; frame-ancestors 'none'`
    : policyOf(nonce, `'self' file:`);
  const html = eta.renderString(parts.page, {
    name: view.name,
    state,
    nonce,
    policy: isLive ? '' : policy,
    isLive,
    summary: renderSummary(parts, view, flight),
    figures: renderFigures(parts, view),
    style: parts.style,
    script: parts.script,
  });
  const [top = '', bottom = ''] = html.split('<!--data-->');
  return { top, bottom, policy };
}

/** A policy that allows only the page itself and files beside it: no request leaves it, whatever a prompt or an error contains. */
function policyOf(nonce: string, pictures: string): string {
  return [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src data: ${pictures}`,
    `media-src ${pictures}`,
    `font-src data:`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}

/** The parts in dist/runners/report/page, found from there and from the bundled command line. */
export async function readPageParts(): Promise<PageParts> {
  const read = (name: string): Promise<string> =>
    readFile(new URL(`../report/page/${name}`, import.meta.url), 'utf8');
  return {
    page: await read('page.eta'),
    summary: await read('summary.eta'),
    figures: await read('figures.eta'),
    flight: await read('flight.eta'),
    style: await read('bundle.css'),
    script: await read('bundle.js'),
  };
}
