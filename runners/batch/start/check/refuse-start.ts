import { MillraceError } from '../../../../src/contract/millrace-error.js';
import { ManifestError } from '../../manifest/manifest-error.js';
import { describeProblem } from '../../manifest/problem-tally.js';
import { describeSame } from '../../manifest/duplicates/same-requests.js';
import type { Plan } from '../../manifest/plan-manifest.js';
import type { Ahead } from './ahead.js';
import type { ResolvedOptions } from '../../context/resolve-options.js';

/**
 * Keeps a run from starting that could not do what was asked for.
 *
 * @throws {ManifestError} for invalid rows; {@link MillraceError} `usage`. Nothing has been sent.
 */
export function refuseStart(options: ResolvedOptions, plan: Plan, ahead: Ahead): void {
  if (plan.invalid > 0 && !options.skipInvalid) throw invalidRows(options, plan);
  if (ahead.missing.length > 0)
    throw usage(`no row has the id ${ahead.missing.map((id) => JSON.stringify(id)).join(', ')}`);
  if (options.same === 'refuse' && ahead.same.rows > 0)
    throw new ManifestError(
      options.manifest.settings.name,
      `${describeSame(ahead.same).join('; ')}; nothing was sent`,
    );
  const { edit, job, route } = plan.byKind;
  if (edit + job > 0 && options.baseUrl === undefined)
    throw usage('edits and jobs need the host of the queue API: {base_url} is missing');
  if (route > 0 && options.lbBaseUrl === undefined)
    throw usage('routes need their host: {lb_base_url} is missing');
  const isCapped = ahead.cap !== undefined || options.maxCostPerDayUsd !== undefined;
  if (isCapped && ahead.price.unpriced > 0)
    throw usage(
      `${ahead.price.unpriced} rows have no known price, so a cost cap cannot hold: give their endpoints a price (--prices), reckon with one (--assume-price), or leave the cap out`,
    );
}

function invalidRows(
  { manifest }: ResolvedOptions,
  { invalid, problems, otherProblems: rest }: Plan,
): ManifestError {
  const lines = problems.flatMap(describeProblem);
  const text = [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
  return new ManifestError(manifest.settings.name, `${invalid} invalid rows, nothing was sent: ${text}`);
}

function usage(problem: string): MillraceError {
  return new MillraceError('usage', `${problem}; nothing was sent`);
}
