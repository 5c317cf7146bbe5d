/**
 * Steps of a run that a command takes by itself, beside those of the public face, `index.ts`. No package exports them, so
 * they may change with the code.
 */

// The manifest before a run.
export { readManifest } from './manifest/read-manifest.js';
export { planManifest } from './manifest/plan-manifest.js';
export { writeStarterManifest } from './manifest/write-starter-manifest.js';

// The rows that a start takes, in bytes that a plan has seen, and why it stops before one of them.
export { readRows } from './tasks/read-rows.js';
export { PricedBytes } from './tasks/priced-bytes.js';
export { SelectRows } from './tasks/select-rows.js';
export { takeRows } from './tasks/take-rows.js';
export { isRead, type RowFacts, type Task } from './row/task.js';
export { pricedOf } from './row/costs.js';
export { isFree, isUnanswered } from './row/left-rows.js';
export { stopCauses } from './stop/stop-causes.js';

// The checks of a start, without starting it.
export { gateFor, resolveOptions } from './start/resolve-options.js';
export type { RunBatchOptions } from './context/run-options.js';
export { checkIdentity } from './start/check/check-identity.js';
export type { RunIdentity } from './journal/record.js';
export { checkManifest } from './start/check/check-manifest.js';
export { refuseFolder, refuseOtherManifest, refuseUnknownColumns } from './start/check/refuse-start.js';
export { newlySentText } from './start/check/newly-sent.js';
export type { Ahead } from './start/check/ahead.js';

// What happens in a run, and what it leaves.
export type { Run } from './context/run.js';
export type { RunEvent } from './context/run-event.js';
export { peekJournal } from './journal/recovered-journal.js';
export type { RowRecords } from './journal/journal.js';
export { refreshSnapshot } from './journal/save-snapshot.js';
export { readSummary, type Summary } from './sinks/summary-file.js';
