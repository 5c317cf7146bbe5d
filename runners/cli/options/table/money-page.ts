import { file, notOfPlan, ofRun, setting, usd, type TablePage } from './table-row.js';

/** The run remembers it. */
const remembered = { commands: ofRun, config: 'text', isOnce: true } as const;
const decision = { commands: ofRun, isOnce: true, isChoice: true } as const;

/** Options about costs, and about rows that failed, have changed or are in doubt. */
export const moneyPage = {
  heading: 'Money and failures:',
  rows: {
    maxCost: {
      ...remembered,
      takes: 'USD|none',
      value: (values) => values.wordOr('none', values.usd()),
      meaning: 'cost cap over all starts of the run, which remembers it; none lifts it',
    },
    maxCostPerDay: {
      ...usd,
      ...setting,
      meaning: 'cost cap in any 24 hours, for starts with this option that share a ledger',
    },
    costBy: {
      takes: 'COLUMN',
      value: (values) => values.columns(),
      repeats: true,
      meaning: 'show cost and rows for each value of a column; the run remembers it, none ends it',
      commands: { ...ofRun, status: { meaning: 'show cost and rows for each value of a column' } },
      config: 'text',
      isOnce: true,
      isChoice: true,
    },
    maxCostBy: {
      ...remembered,
      takes: 'COLUMN=USD',
      value: (values) => values.columnCaps(),
      repeats: true,
      meaning:
        'no value of the column costs more, over all starts of the run, which remembers it; COLUMN=none lifts it',
    },
    warnAt: {
      ...setting,
      takes: 'P%|USD',
      value: (values) => values.warnAt(),
      meaning: 'warn once for each cap, when this much of it is spent, reserved or in doubt',
    },
    ledger: {
      ...file,
      meaning: 'the ledger that runs share',
      otherwise: "in the user's state folder",
      commands: notOfPlan,
      config: 'path',
    },
    prices: {
      ...file,
      meaning: 'prices of your endpoints, a JSON file',
      otherwise: 'the published ones',
      commands: ofRun,
      config: 'path',
    },
    assumePrice: {
      ...usd,
      meaning: 'the price of rows without a known price; a cap needs it for such rows',
      commands: ofRun,
      config: 'text',
      isPlanned: true,
    },
    maxPriceDrift: {
      ...setting,
      takes: 'P%',
      value: (values) => values.percent(),
      meaning: 'stop when the service charges this much more than expected',
      otherwise: '100% with neither a cap nor --yes',
    },
    yes: {
      meaning: 'agree to any price; without it a start above $25 asks, and needs a cap if it cannot ask',
      commands: notOfPlan,
      isOnce: true,
    },
    onUnknown: {
      ...decision,
      takes: 'ACTION',
      value: (values) => values.oneOf('hold', 'retry'),
      meaning: 'what to do with a request that may have been accepted: hold or retry',
      fallback: 'hold',
    },
    retry: {
      ...decision,
      takes: 'CODES',
      value: (values) => values.retryCodes(),
      meaning: 'failures to try again besides download and deadline: failed, unknown, expired, all, or codes',
      repeats: true,
    },
    changed: {
      ...decision,
      takes: 'ACTION',
      value: (values) => values.oneOf('keep', 'redo'),
      meaning:
        'what to do with bought rows that have changed since: keep, which ends the warning about them, or redo (default: keep and warn)',
    },
    same: {
      takes: 'ACTION',
      value: (values) => values.oneOf('warn', 'refuse'),
      meaning: 'what to do with rows that ask for exactly the same: warn or refuse',
      fallback: 'warn',
      commands: ofRun,
      config: 'text',
      isChoice: true,
    },
    halt: {
      ...setting,
      takes: 'N|P%',
      value: (values) => values.halt(),
      meaning: 'stop when this many rows have failed',
      isChoice: true,
    },
    repair: {
      meaning: 'continue with a damaged journal: unreadable rows are in doubt',
      commands: notOfPlan,
      isOnce: true,
      isChoice: true,
    },
    saveOutput: {
      ...remembered,
      takes: 'PATH',
      value: (values) => values.outputPaths(),
      repeats: true,
      meaning:
        'save the files at a path of the output beside the picture, such as output.video_url or output.images[].url; the run remembers it, none ends it',
      isChoice: true,
    },
    download: {
      meaning: 'leave pictures and files at their URLs',
      isOn: true,
      commands: ofRun,
      isChoice: true,
    },
  },
} as const satisfies TablePage;
