import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { LateTransport } from '../../../src/transport/got/late-got.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import type { RowSelection } from '../manifest/rows/row-selection.js';
import type { PricedBytes } from '../tasks/priced-bytes.js';
import type { RunBatchOptions } from './run-options.js';

/** Options that have a default. */
type Filled =
  | 'identity'
  | 'downloads'
  | 'timeoutMs'
  | 'runsyncTimeoutMs'
  | 'executionTimeoutsMs'
  | 'retries'
  | 'pollCostMs'
  | 'onUnknown'
  | 'same'
  | 'limit'
  | 'skipInvalid'
  | 'add'
  | 'download'
  | 'repair'
  | 'stop'
  | 'confirm'
  | 'disk'
  | 'scheduler'
  | 'random'
  | 'gate'
  | 'transport'
  | 'saveFrom'
  | 'makeThumbnail'
  | 'hold'
  | 'ledger'
  | 'prices';

/** The options of a run, validated once and with all defaults filled in. A start chooses the implementations. */
export interface ResolvedOptions
  extends
    Omit<RunBatchOptions, Filled | 'manifest' | 'retry' | 'only' | 'rate' | 'webhooks'>,
    Required<Pick<RunBatchOptions, Filled>> {
  readonly manifest: ResolvedManifest;
  readonly retry: ReadonlySet<FailureCode>;
  readonly only: RowSelection | undefined;
  /** If it has `load`, that is called before anything is sent. */
  readonly transport: Transport & Partial<Pick<LateTransport, 'load'>>;
  /** The settings of a start that the journal records: plain values, so no API key. */
  readonly settings: Record<string, unknown>;
  /** How the service calls back; without a `url`, at the address where the run listens. */
  readonly webhooks?: ResolvedWebhooks | undefined;
  /** Texts that must not appear in any file, log or error. */
  readonly secrets: readonly string[];
}

type Webhooks = NonNullable<RunBatchOptions['webhooks']>;

/** Options for callbacks of the service. */
type ResolvedWebhooks = Omit<Webhooks, 'host' | 'port'> & Required<Pick<Webhooks, 'host' | 'port'>>;

/** The source of the rows, and how it is read. */
export interface ResolvedManifest {
  readonly path: string;
  readonly keep?: { readonly path: string; readonly move: () => Promise<void> };
  readonly settings: ManifestSettings;
  /** Makes all passes of this start read the same bytes. */
  readonly bytes?: PricedBytes;
  readonly live?: AsyncIterable<unknown> | Iterable<unknown>;
}

/**
 * Work that a start does while it reads its journal: it may save a kept check of the manifest. It is called early, but writes
 * nothing until `held` resolves: from then on this start holds the run. It never rejects, and ends when the signal aborts.
 */
export type CheckAhead = (
  options: ResolvedOptions,
  signal: AbortSignal,
  held: Promise<unknown>,
) => Promise<void>;
