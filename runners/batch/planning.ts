/**
 * The rows of a manifest before a run, for plans and comparisons with them. Importing it loads the code that reads manifests,
 * but not that of a run. `internal.ts` has the steps of a run.
 */

export { RowSample } from './manifest/duplicates/row-sample.js';
export { planManifest } from './manifest/plan-manifest.js';
export { readAxes } from './manifest/matrix/read-axes.js';
export { readManifest } from './manifest/read-manifest.js';
export { PricedBytes } from './tasks/priced-bytes.js';
export { readRows } from './tasks/read-rows.js';
export { byPriority, prioritiesOf } from './manifest/columns/row-priority.js';
export { apartText, missingText, RowSelection, SelectRows } from './manifest/rows/row-selection.js';
