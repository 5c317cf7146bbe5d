/**
 * Steps of a run that a command uses by itself, in addition to the public interface in `index.ts`. The package does not
 * export them, so they may change with the code.
 */

// The rows that a start takes, and why it stops before one of them; `planning.ts` has those of a plan.
export { writeStarterManifest } from './manifest/write-starter-manifest.js';
export { takeRows } from './tasks/take-rows.js';
export { isRead, type RowFacts, type Task } from './row/task.js';
export { isFree, isHeld } from './row/left-rows.js';
export { stopCauses } from './stop/stop-causes.js';

// The checks of a start, without starting it.
export { gateFor, resolveOptions } from './start/resolve-options.js';
export type { RunBatchOptions } from './context/run-options.js';
export { checkIdentity } from './start/check/check-identity.js';
export type { RunIdentity } from './journal/record.js';
export { checkAhead } from './start/check/check-ahead.js';
export { checkManifest } from './start/check/check-manifest.js';
export {
  refuseBought,
  refuseFolder,
  refuseOtherManifest,
  refuseUnknownColumns,
  refuseUnpriced,
} from './start/check/refuse-start.js';
export { refuseBehind } from './start/check/examine-files.js';
export { elsewhereSchema, readElsewhere } from './journal/elsewhere.js';
export { movedText } from './start/start-events.js';
export { unreadText } from './start/check/bought-elsewhere.js';
export { newlySentText } from './start/check/newly-sent.js';
export { axesChangeText } from './manifest/matrix/asked-axes.js';
export type { Ahead } from './start/check/ahead.js';
export type { BoughtRows } from './manifest/duplicates/same-requests.js';

// State shared with other runs on this machine, and uploads of pictures.
export { dayLedgerPath } from './ledger/day-ledger.js';
export { createPictureHost, localPicture } from './uploads/create-picture-host.js';
export { openS3Store } from './uploads/open-s3-store.js';
export { signaturesIn } from './uploads/picture-host.js';
export { UploadNotes } from './uploads/upload-notes.js';

// The events of a run, and the files that it leaves.
export type { Run } from './context/run.js';
export type { RunEvent } from './context/run-event.js';
export { peekJournal, withRows, refreshSnapshot } from './journal/recovered-journal.js';
export type { RowRecords } from './journal/journal.js';
export { whoHolds } from './lock/owner.js';
export { refuseEarlier } from './lock/run-progress.js';
export { openLog } from './log/open-log.js';
export { readSummary, type Summary } from './sinks/summary-file.js';
