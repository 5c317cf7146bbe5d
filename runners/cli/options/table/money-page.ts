import { notOfPlan, ofRun, type TablePage } from './table-row.js';

/** What may be spent, and what becomes of rows that failed, changed or may have been bought. */
export const moneyPage = {
  heading: 'Money and failures:',
  rows: {
    maxCost: {
      takes: 'USD|none',
      value: (values) => values.wordOr('none', values.usd()),
      meaning: 'never reserve beyond it, over all starts of the run, which remembers it; none lifts it',
      commands: ofRun,
      config: 'text',
    },
    maxCostPerDay: {
      takes: 'USD',
      value: (values) => values.usd(),
      meaning: 'the same over all runs that share a ledger, in any 24 hours',
      commands: notOfPlan,
      config: 'text',
    },
    ledger: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: 'the ledger that runs share',
      otherwise: "in the user's state folder",
      commands: notOfPlan,
      config: 'path',
    },
    prices: {
      takes: 'FILE',
      value: (values) => values.named('file'),
      meaning: 'prices of your endpoints, a JSON file',
      otherwise: 'the published ones',
      commands: ofRun,
      config: 'path',
    },
    assumePrice: {
      takes: 'USD',
      value: (values) => values.usd(),
      meaning: 'the price of a row that has no known one; a cap then needs it',
      commands: ofRun,
      config: 'text',
      isPlanned: true,
    },
    maxPriceDrift: {
      takes: 'P%',
      value: (values) => values.percent(),
      meaning: 'stop when the service charges so much more than expected',
      commands: notOfPlan,
      config: 'text',
    },
    yes: {
      meaning: 'agree to any price: above $25 a start asks, and where it cannot ask it needs this or a cap',
      commands: notOfPlan,
    },
    onUnknown: {
      takes: 'ACTION',
      value: (values) => values.oneOf('hold', 'retry'),
      meaning: 'a request that may have been accepted: hold or retry',
      fallback: 'hold',
      commands: ofRun,
    },
    retry: {
      takes: 'CODES',
      value: (values) => values.retryCodes(),
      meaning: 'failures to take up: failed, unknown, expired, all, or codes',
      repeats: true,
      otherwise: 'download,deadline',
      commands: ofRun,
    },
    changed: {
      takes: 'ACTION',
      value: (values) => values.oneOf('keep', 'redo'),
      meaning: 'rows that were bought and have changed since: keep or redo',
      fallback: 'keep',
      commands: ofRun,
    },
    same: {
      takes: 'ACTION',
      value: (values) => values.oneOf('warn', 'refuse'),
      meaning: 'rows that ask for exactly what another row asks for: warn or refuse',
      fallback: 'warn',
      commands: ofRun,
      config: 'text',
    },
    halt: {
      takes: 'N|P%',
      value: (values) => values.halt(),
      meaning: 'stop when so many rows have failed',
      commands: notOfPlan,
      config: 'text',
    },
    repair: {
      meaning: 'go on where the journal is damaged: what cannot be read is held as unknown',
      commands: notOfPlan,
    },
    download: { meaning: 'leave pictures at their URLs', isOn: true, commands: ofRun },
  },
} as const satisfies TablePage;
