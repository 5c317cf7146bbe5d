import { failureCodes, type FailureCode, type Paid } from '../../../../src/contract/failure-code.js';
import { checkHttpUrl } from '../../../../src/contract/request-parts.js';
import type { Row, RowKind } from '../row.js';
import { parseJson } from './parse-json.js';
import type { Problems } from './problems.js';
import type { RowCells } from './row-cells.js';

/** What a line of failures.jsonl says of itself. */
export interface PriorFailure {
  readonly failure: NonNullable<Row['prior']>;
  readonly kind?: RowKind;
  readonly endpoint?: string;
}

const paidOrder: readonly Paid[] = ['no', 'maybe', 'yes'];

/** What a row says of a failure before: of its cells `error` and `millrace`. `undefined`: nothing, or something wrong, and said so. */
export function readPrior(cells: RowCells, problems: Problems): PriorFailure | undefined {
  const [error, millrace] = [cells.get('error'), cells.get('millrace')];
  if (error === undefined && millrace === undefined) return undefined;
  const prior = priorFailure(error, millrace);
  if ('failure' in prior) return prior;
  problems.add(cells.label(error === undefined ? 'millrace' : 'error'), prior.problem);
  return undefined;
}

/**
 * Reads the cells `error` and `millrace` of failures.jsonl: objects, or their JSON text. A `problem` when they are
 * anything else: a file of failures that is half understood would buy again what was bought.
 */
function priorFailure(error: unknown, millrace: unknown): PriorFailure | { readonly problem: string } {
  const told = asObject(error);
  const facts = asObject(millrace);
  if (told === undefined || facts === undefined || !isFailureCode(told['code']))
    return { problem: wrongShape };
  const { code, paid } = told;
  if (!isPaid(paid) || !isKindOrNull(facts['kind']) || !isTextOrAbsent(facts['endpoint']))
    return { problem: wrongShape };
  const { jobId, imageUrl } = facts;
  if (!isTextOrAbsent(jobId) || !isTextOrAbsent(imageUrl)) return { problem: wrongShape };
  if (imageUrl && checkHttpUrl(imageUrl) !== undefined)
    return { problem: 'names an imageUrl that is no http or https URL' };
  return {
    failure: {
      code,
      paid: theMoreCareful(paid, failureCodes[code].paid),
      ...(jobId && { jobId }),
      ...(imageUrl && { imageUrl }),
    },
    ...(facts['kind'] && { kind: facts['kind'] }),
    ...(facts['endpoint'] && { endpoint: facts['endpoint'] }),
  };
}

const wrongShape =
  'is a name that only lines of failures.jsonl have, where error {code, paid, …} and millrace {kind, endpoint, …} stand together; rename the column';

function asObject(value: unknown): Record<string, unknown> | undefined {
  const parsed = typeof value === 'string' ? parseJson(value) : { value };
  if ('problem' in parsed || typeof parsed.value !== 'object') return undefined;
  return parsed.value === null || Array.isArray(parsed.value)
    ? undefined
    : (parsed.value as Record<string, unknown>);
}

function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(failureCodes, value);
}

function isPaid(value: unknown): value is Paid {
  return (paidOrder as readonly unknown[]).includes(value);
}

function isKindOrNull(value: unknown): value is RowKind | null | undefined {
  return value === null || value === undefined || value === 'edit' || value === 'job' || value === 'route';
}

function isTextOrAbsent(value: unknown): value is string | null | undefined {
  return value === null || value === undefined || typeof value === 'string';
}

function theMoreCareful(a: Paid, b: Paid): Paid {
  return paidOrder.indexOf(a) > paidOrder.indexOf(b) ? a : b;
}
