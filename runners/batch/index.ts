/**
 * The batch runner as a stream of events, and its parts.
 *
 * @module millrace/batch
 */

export { runBatch, runStages, type RunBatchOptions, type RunStages, type StopOrder } from './run-batch.js';
export type { RunEvent, WarningCode, RunStream } from './context/run-event.js';
export type { Ahead } from './start/check/ahead.js';
export type { Summary } from './sinks/summary-file.js';

export { readManifest } from './manifest/read-manifest.js';
export type { ManifestSettings, ResolveImage } from './manifest/manifest-settings.js';
export type { InvalidRow, ManifestItem, Row } from './manifest/manifest-row.js';
export { planManifest, type Plan } from './manifest/plan-manifest.js';

export { takeRows } from './tasks/take-rows.js';
export { buyRows } from './purchase/buy-rows.js';
export { withinLedger } from './purchase/buy-row.js';
export { journalled } from './purchase/job-of.js';
export { savePictures } from './pictures/save-pictures.js';
export { endRow, type Ending } from './end/end-row.js';
export type { Run } from './context/run.js';
export type { PurchaseContext } from './context/purchase-context.js';
export type { RowInFlight } from './row/row-in-flight.js';
export type { PaidRow, RowFacts, Task } from './row/task.js';

export { openJournal, type OpenJournalOptions } from './journal/open-journal.js';
export type { Journal, Recovered } from './journal/journal.js';
export type { JournalRecord, RunIdentity } from './journal/record.js';
export { createLedger, type Ledger, type LedgerOptions } from './ledger/ledger.js';
export type { DayLedger } from './ledger/day-ledger.js';
export { createPriceBook, type PriceBook, type PriceTable } from './ledger/price-book.js';
export { toPriceList, readPriceFile, type PriceFile, type PriceList } from './ledger/price-list.js';
export type { Disk, DiskAtOnce, DiskFile, FileAtOnce } from './disk/disk.js';
export { nodeDisk } from './disk/node-disk.js';

export { localPicture, createPictureHost, type HostOptions } from './uploads/create-picture-host.js';
export { openS3Store, type S3Store, type S3StoreOptions } from './uploads/open-s3-store.js';
export { parseUploadTarget, type UploadTarget, type PictureHost } from './uploads/picture-host.js';
export { UploadError } from './uploads/picture-host.js';
export { UploadNotes, type UploadNote } from './uploads/upload-notes.js';

export {
  settleRow,
  settleRows,
  type RowSettlement,
  type SettleOptions,
  type Settlement,
} from './settle-row.js';
export { refetch, type RefetchOptions } from './refetch.js';
export { readStatus, type RunStatus } from './read-status.js';
export type { FolderOptions } from './start/open-folder.js';
