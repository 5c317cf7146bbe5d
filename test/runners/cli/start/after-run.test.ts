import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { of, throwError } from 'rxjs';
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
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const secret = 'canary-notify-77b1';
const ended = (held = 0): EndedStart => ({
  ...{ exitCode: held > 0 ? 6 : 3, reason: `it's "over" $(touch x)` },
  summary: { failures: { unknown: held }, rows: { total: 3 } } as unknown as EndedStart['summary'],
});

async function after(
  options: Partial<StartedRun['options']>,
  { held = 0, ...parts }: AfterRunParts & { held?: number } = {},
): Promise<string> {
  let printed = '';
  const env = { PATH: process.env['PATH'], MILLRACE_API_KEY: 'canary-key-1', MILLRACE_NOTIFY_SECRET: secret };
  const io = { cwd: folder, env, stderr: { write: (text: string) => (printed += text) } };
  await afterRun({ out: `${folder}/out`, options, io } as unknown as StartedRun, ended(held), {
    random: () => 0,
    ...parts,
  });
  return printed;
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
  const { mkdir, chmod } = await import('node:fs/promises');
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
