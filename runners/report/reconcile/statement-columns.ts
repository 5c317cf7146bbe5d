import { MillraceError } from '../../../src/contract/millrace-error.js';

/** Which column of a billing export says what; a name left out is looked for among usual ones. */
export interface StatementColumns {
  /** The id of the job or request. */
  readonly job?: string;
  /** What was charged, in USD. */
  readonly amount?: string;
  /** When. Without such a column, charges of other times cannot be given from those of the run. */
  readonly time?: string;
}

const usual = {
  job: ['jobid', 'requestid', 'id', 'job', 'request', 'reference'],
  amount: ['cost', 'amount', 'charge', 'charged', 'total', 'price', 'usd', 'costusd', 'amountusd'],
  time: [
    'time',
    'timestamp',
    'date',
    'datetime',
    'createdat',
    'settledat',
    'completedat',
    'startedat',
    'usagetime',
  ],
  currency: ['currency', 'currencycode'],
} as const;

export interface FoundColumns {
  readonly job: string;
  readonly amount: string;
  readonly time: string | undefined;
  readonly currency: string | undefined;
}

/**
 * @param path Of the export, for what is said of it.
 * @param present The names of the export's first line.
 * @throws {MillraceError} `statement-columns` where a column is missing: it names those that are there
 */
export function statementColumns(
  path: string,
  present: readonly string[],
  given: StatementColumns,
): FoundColumns {
  const find = (meaning: keyof typeof usual): string | undefined => {
    const name = meaning === 'currency' ? undefined : given[meaning];
    if (name === undefined)
      return usual[meaning].flatMap(
        (one) => present.find((column) => plain(column) === one || withoutUnit(column) === one) ?? [],
      )[0];
    const found =
      present.find((column) => column === name) ?? present.find((column) => plain(column) === plain(name));
    if (found === undefined)
      throw new MillraceError(
        'statement-columns',
        `${path}, line 1: there is no column "${name}"; there are ${listOf(present)}`,
      );
    return found;
  };
  const need = (meaning: 'job' | 'amount', what: string): string => {
    const found = find(meaning);
    if (found !== undefined) return found;
    throw new MillraceError(
      'statement-columns',
      `${path}, line 1: no column is known to hold ${what}; say which of ${listOf(present)} does`,
    );
  };
  return {
    job: need('job', 'the job id'),
    amount: need('amount', 'the amount'),
    time: find('time'),
    currency: find('currency'),
  };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** `Charge (USD)`, `Time (UTC)`. */
function withoutUnit(name: string): string {
  return plain(name.replace(/\s*[([](?:usd|us\$|\$|utc|gmt)[)\]]\s*$/i, ''));
}

function listOf(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
