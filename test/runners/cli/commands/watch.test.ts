import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace, startMillrace } from '../../../support/millrace.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

describe('millrace watch', () => {
  let work: Workplace;
  beforeEach(async () => {
    work = await openWorkplace();
  });
  afterEach(() => work.remove());

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'serves a folder in which nothing lies yet, on loopback alone, and ends at %s with 0',
    async (signal) => {
      const { child, ended, prints } = startMillrace(['watch', 'edits.out'], { cwd: work.folder });
      const url = (await prints('Ctrl-C ends it')).trim();
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
      const page = await fetch(url);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('edits.out');
      child.kill(signal);
      const end = await ended;
      expect(end).toMatchObject({ code: 0, signal: null, stdout: `${url}\n` });
      expect(end.stderr).toBe(
        'no run lies in edits.out yet: the page shows it as soon as one begins; Ctrl-C ends it\n',
      );
      expect(await work.everything('.')).toEqual(new Map());
    },
  );

  it('says what it cannot watch, and when a port is taken', async () => {
    await work.write('file', ['x']);
    expect(await millrace(['watch', 'file'], { cwd: work.folder })).toMatchObject({
      code: 2,
      stderr: 'error: "file" is not a folder: name the output folder of a run\n',
    });
    const first = startMillrace(['watch', 'out'], { cwd: work.folder });
    const { port } = new URL((await first.prints('Ctrl-C')).trim());
    expect(await millrace(['watch', 'out', '--port', port], { cwd: work.folder })).toMatchObject({
      code: 2,
      stderr: `error: --port: ${port} is in use: choose another one, or leave it out for any free one\n`,
    });
    first.child.kill();
    await first.ended;
  });
});
