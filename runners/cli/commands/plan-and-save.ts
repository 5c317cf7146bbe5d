import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { Plan } from '../../batch/manifest/plan-manifest.js';
import type { CliIo } from '../io/cli-io.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/run-options.js';
import { plannedOptions, withHosts } from '../saved-plan/planned-options.js';
import { savePlan } from '../saved-plan/save-plan.js';
import { plannedSettings, refuseMissing } from './plan-source.js';
import { selectRows } from './select-rows.js';

/** Plans like `planSource`, and keeps the plan in a file. */
export async function planAndSave(
  file: string,
  planned: {
    readonly raw: Readonly<Record<string, unknown>>;
    readonly source: ManifestSource;
    readonly options: RunOptions;
    readonly prices: PriceBook;
  },
  io: Pick<CliIo, 'stdin' | 'env'>,
): Promise<Plan> {
  const { raw, source, options, prices } = planned;
  const { name, path, format } = source;
  const head = {
    ...({ millrace: 'plan', version: 1, madeAt: new Date().toISOString() } as const),
    manifest: { name, path: path ?? null, format },
    options: plannedOptions(withHosts(raw, io.env)),
  };
  const settings = await plannedSettings(source, options);
  const select = (items: Parameters<typeof selectRows>[0]) => selectRows(items, options, refuseMissing);
  return savePlan({ file, head, settings, select, prices, skipInvalid: options.skipInvalid }, io);
}
