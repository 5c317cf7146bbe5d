import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as face from '../../src/index.js';

/** All that `import … from 'millrace'` offers, in the order of the file: values, and types in brackets. */
const names = [
  ...['createClient', '[Client]', '[ClientOptions]', '[QueueEndpointOptions]'],
  ...['[ChunkOf]', '[EndpointTypes]', '[InputOf]', '[OutputOf]'],
  ...['[QueueEndpoint]', '[StatusOptions]', '[StreamOptions]', '[WatchOptions]'],
  ...['[RouteCall]', '[RouteCallOptions]', '[RouteEndpoint]', '[RouteOptions]'],
  ...[
    '[AttachOptions]',
    '[CallOptions]',
    '[JobPolicy]',
    '[SubmitOptions]',
    '[SyncOptions]',
    '[Activity]',
    '[RequestReport]',
    '[TracedCall]',
    '[RequestPurpose]',
  ],
  ...[
    '[Job]',
    '[JobOperator]',
    '[JobPipe]',
    '[SyncJob]',
    '[Completed]',
    '[Failed]',
    '[JobEvent]',
    '[Outcome]',
    '[Paid]',
    '[WaitReason]',
    '[Checkpoint]',
    '[CheckpointEvent]',
  ],
  ...[
    'toOutcome',
    'toOutput',
    'retryPurchase',
    '[RetryPurchaseOptions]',
    'chainJob',
    'saveWith',
    'cancelOnTeardown',
    'untilAborted',
    'iterate',
  ],
  ...['pullJobs', '[PullOptions]', '[PulledJobs]', 'mergeJobs', '[MergeOptions]'],
  ...['switchJobs', '[OnError]', '[RowOutcome]', 'createLanes', '[LaneOptions]', '[Lanes]', 'withinLane'],
  ...[
    'createBudget',
    '[Budget]',
    'withinBudget',
    'toMicroDollars',
    'toUsd',
    '[MicroDollars]',
    'imageEditPrices',
  ],
  ...['[QueueOptions]', '[RetryPolicy]', 'pollFixed', 'pollExponential', '[ExponentialOptions]'],
  ...['pollLearned', '[LearnedOptions]', '[LearnedSchedule]', '[PollJob]', '[PollSchedule]'],
  ...[
    'openGate',
    'rateGate',
    'publishedGate',
    '[KindRates]',
    'adaptiveGate',
    '[Gate]',
    '[GateAnswer]',
    '[GateRequest]',
    '[RequestKind]',
  ],
  ...['createJobIds', '[AnsweredId]', '[JobIds]'],
  ...[
    '[Clock]',
    '[GateOptions]',
    'adaptiveConcurrency',
    '[AdaptiveConcurrency]',
    '[AdaptiveConcurrencyOptions]',
  ],
  ...['createWebhookReceiver', '[OrphanCallback]', '[WebhookCall]', '[WebhookReceiver]'],
  ...['[WebhookReceiverOptions]', '[NodeAnswer]', '[NodeCall]', '[CalledPost]', '[Hmac]'],
  ...['[Callback]', '[CallbackResult]', '[JobWebhook]', '[JobWebhooks]'],
  ...[
    'createGotTransport',
    '[GotTransportOptions]',
    '[PhaseTimeouts]',
    '[Transport]',
    '[WireReply]',
    '[WireRequest]',
  ],
  ...[
    'imageEditInputSchema',
    'imageEditOutputSchema',
    'looseImageEditInputSchema',
    '[ImageEditInput]',
    '[ImageEditOutput]',
  ],
  ...[
    'jobReplySchema',
    '[JobReply]',
    'jobStates',
    'isTerminal',
    '[JobState]',
    'healthSchema',
    '[Health]',
    '[Purged]',
    '[StandardSchema]',
  ],
  ...[
    'failureCodes',
    '[FailureCode]',
    '[QueueFailureCode]',
    '[RouteGetFailureCode]',
    '[RoutePostFailureCode]',
    'isMillraceError',
    'MillraceError',
    'JobError',
    'ChunkGapError',
  ],
  ...['InvalidInputError', 'InvalidOptionError', 'TransportError', '[FaultPhase]'],
  ...[
    'BadRequestError',
    'MalformedReplyError',
    'NotFoundError',
    'RateLimitedError',
    'RedirectError',
    'ReplyError',
  ],
  ...['ServerError', 'UnauthorizedError', 'UnexpectedStatusError', 'version'],
];

/** The names that a file offers, each with the file that it comes from. */
function exportsOf(source: string): [name: string, from: string][] {
  const lists = source.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']*)'/gm);
  return [...lists].flatMap(([, list, from]) =>
    list!
      .split(',')
      .map((name) => name.replace(/^.* as |^\s*type /s, '').trim())
      .filter((name) => name !== '')
      .map((name): [string, string] => [name, from!]),
  );
}

describe('the public face', () => {
  it('is this list, in this order', () => {
    const source = readFileSync(new URL('../../src/index.ts', import.meta.url), 'utf8');
    const exported = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, list]) =>
      list!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .map((name) => (type === undefined ? name.replace(/^type (.*)/, '[$1]') : `[${name}]`)),
    );
    expect(exported).toStrictEqual(names);
  });

  it('is that of millrace/core, name by name out of the same files, but for the client and got', () => {
    const [faces, core] = ['index', 'core'].map(
      (name) => new Map(exportsOf(readFileSync(new URL(`../../src/${name}.ts`, import.meta.url), 'utf8'))),
    );
    const differs = [...faces!].filter(([name, from]) => core!.get(name) !== from);
    expect(differs).toStrictEqual([
      ['createClient', './endpoints/create-client.js'],
      ['createGotTransport', './transport/got/got-transport.js'],
      ['GotTransportOptions', './transport/got/got-transport.js'],
    ]);
    expect([...core!].filter(([name]) => !faces!.has(name))).toStrictEqual([
      ['CoreClientOptions', './endpoints/client-on.js'],
    ]);
  });

  it('has a test for every value, and a line in a README for every operator', () => {
    const root = new URL('../../', import.meta.url);
    const tests = readdirSync(new URL('test/src', root), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && path !== 'index.test.ts')
      .map((path) => readFileSync(new URL(`test/src/${path.replaceAll('\\', '/')}`, root), 'utf8'));
    const readmes = ['README.md', 'src/operators/README.md'].map((path) =>
      readFileSync(new URL(path, root), 'utf8'),
    );
    const isIn = (texts: readonly string[], name: string) =>
      texts.some((text) => new RegExp(`\\b${name}\\b`).test(text));
    const offered = exportsOf(readFileSync(new URL('src/index.ts', root), 'utf8')).filter(
      ([name]) => name in face,
    );
    expect(offered.filter(([name]) => !isIn(tests, name))).toEqual([]);
    const operators = offered.filter(
      ([name, from]) => from.startsWith('./operators/') && !name.endsWith('Error'),
    );
    expect(operators.length).toBeGreaterThan(10);
    expect(operators.filter(([name]) => !isIn(readmes, name))).toEqual([]);
  });

  it('offers every value of the list, and no other', () => {
    const values = names.filter((name) => !name.startsWith('['));
    expect(Object.keys(face).sort()).toStrictEqual(values.sort());
  });
});
