import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { peekJournal } from '../../batch/journal/peek-journal.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { trackConnections } from '../io/track-connections.js';
import { UsageError } from '../io/usage-error.js';
import { readApiKey } from '../options/read-api-key.js';
import { serviceSettings } from '../options/service-settings.js';
import type { SettleOptions } from '../options/settle-options.js';
import { plainText } from '../words/plain-text.js';

const patienceMs = 30_000;

interface Asking {
  readonly options: SettleOptions;
  readonly io: CliIo;
  readonly fault: FaultContext;
}

/**
 * Asks the service for a job before a row is settled with it: a wrong id would end the row as expired. The emulator of a
 * rehearsal is gone by then and is not asked. Throws `UsageError` where the service does not know the job, or cannot be
 * asked, unless `--yes` says to go on.
 */
export async function askForJob(folder: string, id: string, jobId: string, asking: Asking): Promise<void> {
  const { options, io } = asking;
  const journal = await peekJournal(nodeDisk, folder);
  const row = await journal?.find(id);
  const { identity } = journal?.recovered ?? {};
  if (row?.intent === undefined || identity === undefined || identity.local) return;
  const connections = trackConnections();
  const problem = await problemOf(row.intent.endpoint, jobId, identity.baseUrl, asking).finally(() =>
    connections.letGo(),
  );
  if (problem === undefined) return;
  if (options.yes) io.stderr.write(`warning: ${plainText(problem, 500)}\n`);
  else throw new UsageError([problem], 'nothing is settled; --yes settles it all the same');
}

async function problemOf(
  endpoint: string,
  jobId: string,
  baseUrl: string,
  { options, io, fault }: Asking,
): Promise<string | undefined> {
  const job = `job ${JSON.stringify(jobId)}`;
  // The key goes to a host that was named for this call, not to one that a file names.
  if (serviceSettings(options, io.env).baseUrl !== baseUrl)
    return `${job} was not asked for: the run is against ${baseUrl}, which neither --base-url nor MILLRACE_BASE_URL names`;
  const { key } = await readApiKey(options.apiKeyFile, io);
  fault.secrets.push(key);
  const client = createClient({ apiKey: key, baseUrl });
  return firstValueFrom(
    client
      .queue(endpoint, { retry: { maxRetries: 2 } })
      .status(jobId)
      .pipe(
        timeout(patienceMs),
        map(() => undefined),
        catchError((error: unknown) => {
          const isUnknown = isMillraceError(error) && error.code === 'not-found';
          const why = error instanceof Error ? error.message : String(error);
          return of(
            isUnknown
              ? `the service does not know ${job} at the endpoint ${endpoint}: the id is wrong, or the job is older than it keeps them`
              : `${job} could not be asked for: ${why}`,
          );
        }),
      ),
  );
}
