import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER, of, throwError } from 'rxjs';
import type { StopSignal } from '../../../../runners/cli/io/cli-io.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { afterRun, type AfterRunParts, type EndedStart } from '../../../../runners/cli/start/after-run.js';
import type { StartedRun } from '../../../../runners/cli/start/batch-options.js';
import { maskedUrl, parseNotifyUrl } from '../../../../runners/cli/options/parse-value.js';
import type { Transport, WireRequest } from '../../../../src/transport/transport.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';
import { bodyOf, serveHttp } from '../../../support/loopback-server.js';
import { millrace } from '../../../support/millrace.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-after-'));
  await mkdir(join(folder, 'out'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const secret = 'canary-notify-77b1';
const ended = (held = 0): EndedStart => ({
  exitCode: held > 0 ? 6 : 3,
  reason: `it's "over" $(touch x)`,
  summary: { failures: { unknown: held }, rows: { total: 3 } } as unknown as EndedStart['summary'],
});

async function after(
  options: Partial<StartedRun['options']>,
  { held = 0, printing, ...parts }: AfterRunParts & { held?: number; printing?: Printing } = {},
): Promise<string> {
  let printed = '';
  const listeners = new Set<(name: StopSignal) => void>();
  const onStop = (listener: (name: StopSignal) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const write = (text: string): void => {
    printed += text;
    printing?.(text, (name) => listeners.forEach((listener) => listener(name)));
  };
  const env = { PATH: process.env['PATH'], MILLRACE_API_KEY: 'canary-key-1', MILLRACE_NOTIFY_SECRET: secret };
  const io = { cwd: folder, env, stderr: { write }, onStop };
  const fault = { secrets: ['canary-key-1'] };
  await afterRun({ out: `${folder}/out`, options, io, fault } as unknown as StartedRun, ended(held), {
    random: () => 0,
    ...parts,
  });
  expect(listeners.size).toBe(0);
  return printed;
}

/** Is told what is printed, and may send a signal then. */
type Printing = (text: string, send: (name: StopSignal) => void) => unknown;

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly output?: string;
}

async function logged(): Promise<LogLine[]> {
  const text = await readFile(join(folder, 'out/run.log'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);
}

describe('--on-end and --on-hold', () => {
  it('call a command through the shell with what it needs and no secret, and pass on what it prints', async () => {
    const printed = await after({
      onEnd: `printf '%s|%s|%s|%s' "$MILLRACE_OUT" "$MILLRACE_EXIT_CODE" "$MILLRACE_REASON" "$MILLRACE_SUMMARY" > told; env > all; echo said; echo wrong >&2`,
    });
    expect(await readFile(join(folder, 'told'), 'utf8')).toBe(
      `${folder}/out|3|it's "over" $(touch x)|${folder}/out/summary.json`,
    );
    expect(await readFile(join(folder, 'all'), 'utf8')).not.toMatch(/canary/);
    expect(printed.split('\n').sort()).toEqual(['', 'said', 'wrong']);
  });

  it('print what failed and go on: a command that is not there, a wrong exit code, one that never ends', async () => {
    expect(await after({ onEnd: 'exit 4', onHold: 'echo held' }, { held: 2 })).toBe(
      'warning: --on-end failed: it ended with exit code 4\nheld\n',
    );
    expect(await after({ onEnd: 'no-such-command-here' })).toMatch(
      /--on-end failed: it ended with exit code 127\n$/,
    );
    expect(await after({ onEnd: 'sleep 60 & wait' }, { commandMs: 50 })).toBe(
      'warning: --on-end failed: it was killed after 0.05 s\n',
    );
  });

  it('call --on-hold only where a person has to decide', async () => {
    expect(await after({ onHold: 'echo held' })).toBe('');
    expect(await after({ onHold: 'echo held' }, { held: 1 })).toBe('held\n');
  });
});

describe('run.log', () => {
  it('has what each printed, and what failed', async () => {
    const { transport } = receiver(404);
    const notify = 'https://hooks.example.test/services/T000';
    await after({ onEnd: 'echo said; exit 4', onHold: 'true', notify }, { held: 1, transport });
    expect(await logged()).toMatchObject([
      { level: 'warn', msg: '--on-end failed: it ended with exit code 4', output: 'said' },
      { level: 'info', msg: '--on-hold ended' },
      { level: 'warn', msg: '--notify https://hooks.example.test/… failed: it answered HTTP 404' },
    ]);
    expect((await logged())[1]).not.toHaveProperty('output');
  });

  it('shows no control, no key, no address behind its host, nothing of the environment and not the command', async () => {
    const onEnd = `printf '\\033[31mred\\033[0m\\a%s%s\\n' canary- key-1; printf '%s%s\\n' canary-notify -77b1; echo "POST https://me:canary@hooks.example.test/canary?canary failed" # canary`;
    await after({ onEnd });
    const text = await readFile(join(folder, 'out/run.log'), 'utf8');
    expect((await logged())[0]?.output).toBe(
      'red [redacted] [redacted] POST https://hooks.example.test/… failed',
    );
    expect(text).not.toMatch(/canary|PATH|MILLRACE_/);
  });

  it('keeps the last 4 kB of a talkative command, from a whole word on', async () => {
    await after({ onEnd: 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "word-$i"; done' });
    const [{ output = '' } = {}] = await logged();
    expect(output).toMatch(/^… word-\d+ .* word-3000$/);
    expect(output.length).toBeLessThanOrEqual(4_098);
    expect(output.length).toBeGreaterThan(4_000);
  });

  it('is not made anew where the command has moved the folder', async () => {
    expect(await after({ onEnd: 'mv "$MILLRACE_OUT" kept' })).toBe('');
    await rename(join(folder, 'kept'), join(folder, 'out'));
    await expect(logged()).rejects.toThrow('ENOENT');
  });
});

describe('a signal', () => {
  const stubborn = `trap '' TERM; echo begun; while :; do sleep 0.05; done`;

  it('ends the command, and what is behind it does not begin', async () => {
    const { seen, transport } = receiver();
    const notify = 'https://hooks.example.test/services/T000';
    const printing: Printing = (text, send) => text === 'begun\n' && send('SIGINT');
    const onEnd = `trap 'echo asked; exit 3' TERM; echo begun; while :; do sleep 0.05; done`;
    const printed = await after({ onEnd, notify }, { transport, printing });
    // A shell may say that its sleep was terminated, before or after the trap prints.
    expect(printed.replace(/^Terminated.*\n/m, '')).toBe(
      'begun\nasked\nwarning: --on-end failed: interrupted\nwarning: --notify https://hooks.example.test/… failed: interrupted before it began\n',
    );
    expect(seen).toEqual([]);
    expect((await logged()).map(({ msg }) => msg)).toEqual([
      '--on-end failed: interrupted',
      '--notify https://hooks.example.test/… failed: interrupted before it began',
    ]);
  });

  it('kills at the second time a command that does not listen, or when its time to end is over', async () => {
    const twice: Printing = (text, send) => {
      if (text !== 'begun\n') return;
      send('SIGTERM');
      send('SIGTERM');
    };
    const end = 'begun\nwarning: --on-end failed: interrupted\n';
    expect(await after({ onEnd: stubborn }, { printing: twice, graceMs: 600_000 })).toBe(end);
    const once: Printing = (text, send) => text === 'begun\n' && send('SIGTERM');
    expect(await after({ onEnd: stubborn }, { printing: once, graceMs: 20 })).toBe(end);
  });

  it('of a terminal that is closed ends nothing', async () => {
    const printing: Printing = (text, send) => text === 'begun\n' && send('SIGHUP');
    expect(await after({ onEnd: 'echo begun; sleep 0.05; echo sent' }, { printing })).toBe('begun\nsent\n');
  });

  it('ends a notification that waits for an answer', async () => {
    const notify = 'https://hooks.example.test/services/T000';
    let send: ((name: StopSignal) => void) | undefined;
    const keepSend: Printing = (_text, sender) => (send = sender);
    const transport: Transport = () => {
      send?.('SIGINT');
      return NEVER;
    };
    expect(await after({ onEnd: 'echo x', notify }, { transport, printing: keepSend })).toBe(
      'x\nwarning: --notify https://hooks.example.test/… failed: interrupted\n',
    );
  });
});

/** A receiver that gives these answers, and keeps what it is sent. */
function receiver(...answers: readonly (number | 'cut')[]): { seen: WireRequest[]; transport: Transport } {
  const seen: WireRequest[] = [];
  const transport: Transport = (request) => {
    const answer = answers[seen.push(request) - 1] ?? 200;
    return answer === 'cut'
      ? throwError(() => new Error('the line was cut'))
      : of({ status: answer, headers: {}, body: '' });
  };
  return { seen, transport };
}

describe('--notify', () => {
  const notify = 'https://hooks.example.test/services/T000/secret?token=canary';

  it('posts the summary, signed, without the key', async () => {
    const { seen, transport } = receiver();
    expect(await after({ notify }, { transport })).toBe('');
    const [{ headers, body = '', method, url, paid } = {} as WireRequest] = seen;
    expect({ method, url, paid }).toEqual({ method: 'POST', url: notify, paid: false });
    expect(JSON.parse(body)).toEqual({ event: 'run.ended', out: `${folder}/out`, ...ended() });
    const [, at = '', hash] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['Millrace-Signature'] ?? '') ?? [];
    expect(hash).toBe(createHmac('sha256', secret).update(`${at}.${body}`).digest('hex'));
    expect(JSON.stringify([headers, body])).not.toMatch(/canary-key|canary-notify|Authorization/);
  });

  it('is tried again where that may help, four times at most, and names no secret of its address', async () => {
    const twice = receiver('cut', 503);
    expect(await after({ notify }, { transport: twice.transport })).toBe('');
    expect(twice.seen.length).toBe(3);
    const refused = receiver(404);
    expect(await after({ notify }, { transport: refused.transport })).toBe(
      'warning: --notify https://hooks.example.test/… failed: it answered HTTP 404\n',
    );
    expect(refused.seen.length).toBe(1);
    const away = receiver(500, 500, 500, 500, 500);
    expect(await after({ notify }, { transport: away.transport })).toMatch(/HTTP 500\n$/);
    expect(away.seen.length).toBe(4);
  }, 60_000);

  it('names no secret of its address either where the transport names the address', async () => {
    const transport: Transport = ({ url }) => throwError(() => new Error(`POST ${url}: no such host`));
    const printed = await after({ notify }, { transport });
    expect(printed).toContain('no such host');
    expect(printed).not.toMatch(/T000|secret|canary/);
  }, 60_000);

  it('takes https, and http on this machine alone; no text of a refusal repeats the address', () => {
    for (const good of ['https://a.test/x', 'http://127.0.0.1:9/x', 'http://localhost/x'])
      expect(parseNotifyUrl(good)).toEqual({ value: good });
    for (const bad of ['http://a.test/canary', 'ftp://a.test', 'canary', 'https://me:canary@a.test/'])
      expect(JSON.stringify(parseNotifyUrl(bad))).toMatch(/^\{"problem":(?!.*canary)/);
    expect(maskedUrl('https://a.test')).toBe('https://a.test');
  });
});

describe('a run from the command line', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(2));
  });
  afterEach(() => work.remove());

  it('does all of it after its files are written, and keeps its exit code', async () => {
    const bodies: string[] = [];
    await using server = await serveHttp((request, response) => {
      void bodyOf(request).then((body) => {
        bodies.push(body);
        response.end();
      });
    });
    const args = ['run', 'rows.jsonl', '--local', '--endpoint', 'echo', '--quiet'];
    const end = await millrace(
      [...args, '--on-end', 'cp "$MILLRACE_SUMMARY" kept.json; exit 9', '--notify', `${server.url}/hook`],
      { cwd: work.folder, env: { PATH: process.env['PATH'] ?? '' } },
    );
    expect(end).toMatchObject({ code: 0, stderr: 'warning: --on-end failed: it ended with exit code 9\n' });
    const kept = JSON.parse(await readFile(join(work.folder, 'kept.json'), 'utf8')) as object;
    expect(kept).toMatchObject({ rows: { completed: 2 }, thisStart: { exitCode: 0 } });
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ exitCode: 0, summary: { rows: { completed: 2 } } });
  });
});

it('the recipes send what they say: a mail, a message to Slack, a notice', async () => {
  const { chmod } = await import('node:fs/promises');
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of ['mail', 'notify-send']) {
    await writeFile(
      join(bin, name),
      `#!/bin/sh\n{ echo "${name}: $*"; [ ${name} = mail ] && cat; } >> "${folder}/sent"\ntrue\n`,
    );
    await chmod(join(bin, name), 0o755);
  }
  const messages: string[] = [];
  const slack = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      messages.push(body);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve));
  const { port } = slack.address() as { port: number };
  const samples = join(process.cwd(), 'samples/cron');
  const env = `PATH="${bin}:$PATH" MILLRACE_MAIL_TO=ann SLACK_WEBHOOK_URL=http://127.0.0.1:${port}/T0/B0`;
  try {
    for (const name of ['mail', 'slack', 'desktop'])
      expect(await after({ onEnd: `${env} ${samples}/${name}-end.sh` })).toBe('');
  } finally {
    slack.close();
  }
  const sent = await readFile(join(folder, 'sent'), 'utf8');
  expect(sent).toContain(`mail: -s millrace: exit code 3 ann\nit's "over" $(touch x)\n`);
  expect(sent).toContain(`notify-send: -- millrace: exit code 3 it's "over" $(touch x)\n`);
  expect(JSON.parse(messages[0] ?? '')).toEqual({ text: `it's "over" $(touch x) (exit code 3)` });
});
