import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { LateTransport } from '../../../src/transport/got/late-got.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import type { RowSelection } from '../manifest/rows/row-selection.js';
import type { PricedBytes } from '../tasks/priced-bytes.js';
import type { HandOn, OpenCallbackPort } from './callback-port.js';
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
  | 'changed'
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

/** The options of a run, checked once and with every default filled in. It names ports alone: what implements them is chosen by a start. */
export interface ResolvedOptions
  extends
    Omit<RunBatchOptions, Filled | 'manifest' | 'retry' | 'only' | 'rate' | 'webhooks'>,
    Required<Pick<RunBatchOptions, Filled>> {
  readonly manifest: ResolvedManifest;
  readonly retry: ReadonlySet<FailureCode>;
  readonly only: RowSelection | undefined;
  /** One that can be loaded is, before anything is sent. */
  readonly transport: Transport & Partial<Pick<LateTransport, 'load'>>;
  /** What the journal notes of a start: plain values, so no key. */
  readonly settings: Record<string, unknown>;
  /** Where the service calls back; without a `url` at the address where it listens. */
  readonly webhooks?: ResolvedWebhooks | undefined;
  /** What stands in no file, log or error. */
  readonly secrets: readonly string[];
}

/** Callbacks of the service. */
interface ResolvedWebhooks {
  readonly url?: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Absent: a server of `node:http`. */
  readonly open?: OpenCallbackPort | undefined;
  /** Absent: all rows are in work here. */
  readonly handOn?: HandOn | undefined;
}

/** Where rows come from, and how they are read. */
export interface ResolvedManifest {
  readonly path: string;
  readonly keep?: { readonly path: string; readonly move: () => Promise<void> };
  readonly settings: ManifestSettings;
  /** All readings of this start see the same bytes. */
  readonly bytes?: PricedBytes;
  readonly live?: AsyncIterable<unknown> | Iterable<unknown>;
}

/**
 * What a start does while it reads its journal: it may keep what the manifest holds. Called early, it writes nothing before `held`
 * resolves: then the run is this start's, and its journal is opened next. Rejects never, and ends with the signal.
 */
export type CheckAhead = (
  options: ResolvedOptions,
  signal: AbortSignal,
  held: Promise<unknown>,
) => Promise<void>;
