import { nodeDisk } from '../../batch/formats.js';
import { readRows } from '../../batch/planning.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { createGotProbe } from '../../../src/transport/got/got-probe.js';
import { checkEndpoint, type CheckedEndpoint, checkReference } from '../service/check-service.js';
import { checkRows, type CheckedRows } from './check-rows.js';
import type { CliIo, FaultContext } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { trackConnections } from '../io/track-connections.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/parse-options.js';
import { serviceSettings } from '../service/service-settings.js';
import { fact, plainText, countOf, formatCount } from '../messages/plain-text.js';
import { openTarget } from '../service/open-target.js';
import { checkStore } from '../service/open-uploads.js';
import { selectRows } from './plan-source.js';
import { isPlannedImage, plannedSettings } from './planned-settings.js';

export interface PlanCheck {
  readonly exitCode: number;
  /** For people: the findings, and a line for each row that cannot succeed. */
  readonly text: readonly string[];
  readonly problems: readonly string[];
  /** The fields that `plan --json` adds for it. */
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * Tests a run with requests that cost nothing: the key and each endpoint with /health, each reference picture with HEAD,
 * without the key. With `--local` there is no service to test.
 */
export async function checkPlan(
  source: ManifestSource,
  options: RunOptions,
  io: CliIo,
  fault: FaultContext,
): Promise<PlanCheck> {
  const { path } = source;
  if (path === undefined)
    throw new UsageError(['--check reads the manifest twice: it needs a file, not stdin']);
  const connections = trackConnections();
  try {
    const settings = await plannedSettings(source, options);
    const rows = await selectRows(() => readRows(nodeDisk, { path, settings }), options);
    const { baseUrl = '', lbBaseUrl = '' } = options.local
      ? { baseUrl: 'http://127.0.0.1' }
      : serviceSettings(options, io.env);
    const probe = createGotProbe({ services: [baseUrl, lbBaseUrl] });
    const checked = await checkRows(rows(), {
      endpoint: await asker(source, options, io, fault),
      reference: (url) => checkReference(url, probe),
      isLocal: isPlannedImage,
    });
    return await withStore(concluded(checked, source.name), options, io);
  } finally {
    connections.letGo();
  }
}

async function asker(
  source: ManifestSource,
  options: RunOptions,
  io: CliIo,
  fault: FaultContext,
): Promise<(id: string) => Promise<CheckedEndpoint>> {
  if (options.local) return () => Promise.resolve({ state: 'up', words: 'the emulator of this process' });
  const { apiKey, baseUrl } = await openTarget(options, source.folder, io, fault);
  const client = baseUrl === undefined ? undefined : createClient({ apiKey, baseUrl });
  return (id) =>
    client === undefined
      ? Promise.resolve({ state: 'unreached', words: 'no host of the queue API is named: set --base-url' })
      : checkEndpoint(client.queue(id, { retry: { maxRetries: 2 } }));
}

function concluded(checked: CheckedRows, name: string): PlanCheck {
  const { endpoints, tested, deadCount, dead } = checked;
  const states = Object.fromEntries([...endpoints].map(([id, { state, words }]) => [id, { state, words }]));
  return {
    exitCode: exitOf(checked),
    text: checkText(checked),
    problems: [...endpointProblems(checked), ...deadText(checked, name)],
    json: { check: { endpoints: states, references: { tested, dead: deadCount, first: dead } } },
  };
}

/** Adds the state of the bucket of `--upload`, which rows with local pictures need. */
async function withStore(check: PlanCheck, options: RunOptions, io: CliIo): Promise<PlanCheck> {
  if (options.upload === undefined) return check;
  const problem = await checkStore(options, io);
  const name = `s3://${options.upload.bucket}`;
  const text = (words: string) => [...check.text, ...fact('upload', `${name}: ${words}`)];
  if (problem === undefined)
    return { ...check, text: text('it answers'), json: { ...check.json, upload: { ok: true } } };
  return {
    exitCode: 4,
    text: text('cannot be used'),
    problems: [...check.problems, `--upload ${name}: ${plainText(problem, 500)}`],
    json: { ...check.json, upload: { ok: false, problem } },
  };
}

/** The exit code. 4: no row can succeed; 69: the service was not reached; 1: some rows cannot succeed; 0: all can. */
function exitOf({ endpoints, deadCount }: CheckedRows): number {
  const states = [...endpoints.values()].map(({ state }) => state);
  const isGone = states.length > 0 && states.every((state) => state === 'gone');
  if (states.includes('refused') || isGone) return 4;
  if (states.includes('unreached')) return 69;
  return states.includes('gone') || deadCount > 0 ? 1 : 0;
}

const deadShown = 200;
const stateWords = { refused: 'key refused', gone: 'not there', unreached: 'not reached' } as const;

/** The results for endpoints and references, one line each. */
export function checkText({ endpoints, tested, deadCount }: CheckedRows): string[] {
  const dead = deadCount === 0 ? 'all there' : `${formatCount(deadCount)} that the service cannot fetch`;
  return [
    ...[...endpoints].flatMap(([id, { state, words }]) =>
      fact('endpoint', `${plainText(id, 80)}: ${state === 'up' ? plainText(words, 300) : stateWords[state]}`),
    ),
    ...fact('references', tested === 0 ? '' : `${countOf(tested, 'address', 'addresses')} tested, ${dead}`),
  ];
}

const advice = {
  refused: 'the key is refused; look at MILLRACE_API_KEY or --api-key-file',
  gone: 'there is no such endpoint; look at --endpoint and the column "endpoint"',
  unreached: 'the service does not answer; look at --base-url, or try again later',
} as const;

/** A line for each endpoint to which no row can be sent. */
function endpointProblems({ endpoints }: CheckedRows): string[] {
  return [...endpoints].flatMap(([id, { state, rows, words }]) =>
    state === 'up'
      ? []
      : [
          `endpoint ${plainText(id, 80)} (${countOf(rows, 'row')}): ${advice[state]} (${plainText(words, 300)})`,
        ],
  );
}

/** A line for each row whose reference is not there, beginning with file and line. */
function deadText({ dead, deadCount }: CheckedRows, name: string): string[] {
  const rest = deadCount - Math.min(dead.length, deadShown);
  return [
    ...dead
      .slice(0, deadShown)
      .map(
        ({ line, id, url, problem }) =>
          `${name}, line ${line}: row ${plainText(id, 60)}: ${plainText(url, 200)} ${plainText(problem, 300)}`,
      ),
    ...(rest > 0 ? [`… and ${countOf(rest, 'further reference')}`] : []),
  ];
}
