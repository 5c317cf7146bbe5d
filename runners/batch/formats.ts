/**
 * Exports for the command line before and besides a run: messages and formats of manifests, prices, uploads and the disk.
 * Importing it loads none of the code of a run. `index.ts` is the public interface, `internal.ts` has the steps of a run.
 */

// The manifest: its settings, and messages about its rows.
export { manifestFormat, type ManifestSettings, type ResolveImage } from './manifest/manifest-settings.js';
export { basedImage, imagesBaseProblem } from './manifest/rows/row-images.js';
export { isBought, type ManifestItem, type Row } from './manifest/manifest-row.js';
export type { Plan } from './manifest/plan-manifest.js';
export { describeProblem } from './manifest/problem-tally.js';
export {
  boughtIn,
  describeBought,
  describeOutdated,
  describeSame,
  type SameRows,
} from './manifest/duplicates/same-requests.js';
export { readLiveLines } from './manifest/read-live-lines.js';
export { saveAsCsv } from './manifest/records/text-guard.js';
export { firstOf, shellWords, someOf } from './manifest/quote-value.js';
export { describeIssue, parseJsonFile } from './manifest/json-file.js';

// Prices.
export { assumePrice, createPriceBook, listPrices } from './ledger/price-book.js';
export type { PriceBook, PriceTable } from './ledger/price-book.js';
export {
  endpointPriceSchema,
  pictureResolutions,
  readPriceFile,
  toPriceList,
  usdSchema,
  type PriceList,
} from './ledger/price-list.js';

// Other runs of a manifest.
export { isAnyRunOf } from './lock/runs-of-manifest.js';

// The costs of rows by the values of columns.
export { mostCostColumns } from './row/totals.js';

// Pictures that are uploaded.
export { parseUploadTarget, type PictureHost } from './uploads/picture-host.js';
export { pictureFormat } from './artifacts/artifact-format.js';

// Files of outputs.
export { parseOutputPath } from './artifacts/output-path.js';

// The disk.
export type { Disk } from './disk/disk.js';
export { diskFaultAt, reasonOf, remedyOf } from './disk/disk-fault.js';
export { nodeDisk } from './disk/node-disk.js';
export { valueOfJson, readLines } from './disk/read-file.js';
export { replaceFile } from './disk/replace-file.js';

// The states of a row, and how a run ends.
export { isEnd, type RowStatus } from './row/row-status.js';
export { exitCodes } from './stop/worst-end.js';
