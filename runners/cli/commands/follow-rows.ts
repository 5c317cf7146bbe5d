import { resolve } from 'node:path';
import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import type { RunOptions } from '../options/run-options.js';
import { attendRun } from './attend-run.js';
import { openLiveRows } from './live-rows.js';
import { openTarget } from './open-target.js';

/** What a run is begun with. */
interface Following {
  readonly options: RunOptions;
  readonly prices: PriceBook;
  readonly io: CliIo;
  readonly fault: FaultContext;
}

/** Works the rows of stdin as they arrive, until it ends or the run is interrupted. */
export async function followRows(
  name: string | undefined,
  { options, prices, io, fault }: Following,
): Promise<number> {
  const live = openLiveRows(name ?? '', options, io);
  const out = resolve(io.cwd, options.out ?? '');
  const source = { name: 'stdin', path: '', format: 'jsonl', gzip: false, folder: io.cwd } as const;
  try {
    const target = await openTarget(options, source.folder, io, fault);
    return await attendRun({ source, out, options, target, prices, io, fault, live }).finally(() =>
      target.close(),
    );
  } finally {
    live.close();
  }
}
