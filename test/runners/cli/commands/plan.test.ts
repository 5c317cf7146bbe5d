import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EmulatorOptions } from '../../../../runners/emulator/index.js';
import { millrace } from '../../../support/millrace.js';
import { openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

const image = 'https://pictures.example.com/1.png';

describe('millrace plan', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'millrace-plan-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  const write = (name: string, lines: readonly string[]) =>
    writeFile(join(cwd, name), `${lines.join('\n')}\n`);

  it('says how many rows of each value fit under its cap, before there is a run', async () => {
    await write('edits.csv', [
      'id,images,prompt,customer',
      ...['a', 'b', 'c'].map((id) => `${id},${image},grayscale ${id},${id === 'c' ? 'Bolt' : 'acme'}`),
    ]);
    const plan = (...more: string[]) =>
      millrace(['plan', 'edits.csv', '--endpoint', 'image-edit', ...more], { cwd });
    const { stdout } = await plan('--max-cost-by', 'customer=0.1');
    expect(stdout).toContain('  by customer  2 values, at most $0.10 each: 1 row does not fit\n');
    expect(stdout).toContain('acme: 1 of 2 rows fit; all would be $0.175\n');
    expect(stdout).toContain('Bolt: 1 row, for $0.0875\n');
    expect((await plan('--cost-by', 'customer')).stdout).toContain('acme: 2 rows, for $0.175\n');
  });

  it('says that requests in doubt which are sent again may cost more than the price', async () => {
    await write('edits.csv', ['id,images,prompt', `a,${image},grayscale`]);
    const again = ['--endpoint', 'image-edit', '--on-unknown', 'retry'];
    expect((await millrace(['plan', 'edits.csv', ...again], { cwd })).stderr).toBe(
      'note: --on-unknown retry: a request that may have been accepted is sent again, up to 4 times, and may be charged each time; the price does not include that\n',
    );
    expect((await millrace(['plan', 'edits.csv', '--local', ...again], { cwd })).stderr).not.toContain(
      'on-unknown',
    );
  });

  it('needs no endpoint for edits of a rehearsal: the emulator has one', async () => {
    await write('edits.csv', ['id,images,prompt', `a,${image},grayscale`]);
    const rehearsal = await millrace(['plan', 'edits.csv', '--local'], { cwd });
    expect(rehearsal.code).toBe(0);
    expect(rehearsal.stdout).toContain('  price        rehearsal, nothing spent; a real run: $0.0875\n');
    const { code, stderr } = await millrace(['plan', 'edits.csv'], { cwd });
    expect(`${code} ${stderr}`).toMatch(/^2 .*with --endpoint/s);
    await write('jobs.csv', ['id,input', 'a,{}']);
    expect(await millrace(['plan', 'jobs.csv', '--local'], { cwd })).toMatchObject({ code: 2 });
  });

  it('says what a manifest holds and costs, needs no key, and writes nothing', async () => {
    await write('edits.csv', [
      'id,images,prompt,resolution,Note',
      `a,${image},grayscale,1k,x`,
      `b,${image},grayscale,2k,`,
      `c,${image} ${image} ${image} ${image},collage,,`,
    ]);
    const { code, stdout, stderr } = await millrace(['plan', 'edits.csv', '--endpoint', 'image-edit'], {
      cwd,
    });
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual([
      'edits.csv: 3 rows',
      '  kinds        edit 3',
      '  resolutions  1k 2, 2k 1',
      '  many images  1 row with more than the recommended 1 to 3',
      '  sent         images, prompt, resolution',
      '  not sent     Note',
      '  prices       1k $0.0875, 2k $0.13, 4k $0.175 (published)',
      '  price        $0.305',
      '',
    ]);
    expect(code).toBe(0);
    expect(await readdir(cwd)).toEqual(['edits.csv']);
  });

  it('names no published prices where no row is an edit: they are those of edits', async () => {
    await write('jobs.csv', ['id,endpoint,input.n', 'a,echo,1']);
    const { stdout } = await millrace(['plan', 'jobs.csv'], { cwd });
    expect(stdout).toContain('kinds        job 1');
    expect(stdout).not.toContain('prices');
    await write('prices.json', ['{"endpoints":{"echo":{"usdPerJob":0.02}}}']);
    const priced = await millrace(['plan', 'jobs.csv', '--prices', 'prices.json'], { cwd });
    expect(priced.stdout).toContain('echo');
    expect(priced.stdout).toContain('$0.02');
  });

  it('refuses a column that is misspelt, unless it is called the own one', async () => {
    await write('edits.csv', ['id,images,prompt,resolutoin', `a,${image},grayscale,4k`]);
    const args = ['edits.csv', '--endpoint', 'image-edit'];
    for (const command of ['plan', 'run']) {
      const more = command === 'run' ? ['--local', '--skip-invalid'] : [];
      const refused = await millrace([command, ...args, ...more], { cwd });
      expect(refused.stderr).toContain(
        'edits.csv: column 4 ("resolutoin") is not sent, but looks like "resolution"',
      );
      expect(refused.code).toBe(2);
    }
    const taken = await millrace(['plan', ...args, '--ignore', 'resolutoin'], { cwd });
    expect(taken.stdout).toContain('not sent     resolutoin\n');
    expect(taken.code).toBe(0);
    await write('millrace.config.json', ['{"ignore": ["resolutoin"]}']);
    expect((await millrace(['plan', ...args], { cwd })).code).toBe(0);
  });

  it('reads semicolons and says so', async () => {
    await write('edits.csv', ['sep=;', 'id;images;prompt;Preis', `a;${image};grayscale;1,50`]);
    const args = ['plan', 'edits.csv', '--endpoint', 'image-edit'];
    const { code, stdout } = await millrace(args, { cwd });
    expect(stdout).toContain('  columns      separated by semicolons\n');
    expect(code).toBe(0);
    const json = await millrace([...args, '--json', '--delimiter', 'semicolon'], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ rows: 1, separatedBy: 'semicolons' });
    expect((await millrace([...args, '--delimiter', 'x'], { cwd })).stderr).toContain(
      '"x" is not one of comma, semicolon, tab, bar',
    );
  });

  it('counts, prices and names rows that ask for the same under different ids, and refuses them if asked', async () => {
    await write('edits.csv', [
      'id,images,prompt,resolution',
      `a,${image},grayscale,4k`,
      `b,${image},blur,`,
      `c,${image},grayscale,4k`,
    ]);
    const args = ['plan', 'edits.csv', '--endpoint', 'image-edit'];
    const { code, stdout } = await millrace(args, { cwd });
    expect(stdout).toContain(
      '  same         1 row asks for exactly what another row asks for, each is bought: $0.175\n' +
        '               line 4 (id "c") asks for the same as line 2\n',
    );
    expect(code).toBe(0);
    const json = JSON.parse((await millrace([...args, '--json'], { cwd })).stdout) as object;
    expect(json).toMatchObject({
      same: {
        rows: 1,
        cost: { estimated: 0.175, unpriced: 0 },
        first: [{ id: 'c', line: 4, sameAsLine: 2 }],
      },
    });
    const refused = await millrace([...args, '--same', 'refuse'], { cwd });
    expect(refused.stderr).toContain('edits.csv, line 4 (id "c") asks for the same as line 2');
    expect(refused.code).toBe(2);
    const run = await millrace(['run', ...args.slice(1), '--local', '--same', 'refuse'], { cwd });
    expect(run.stderr).toContain('edits.csv, line 4 (id "c") asks for the same as line 2');
    expect(run.code).toBe(2);
    expect(await readdir(cwd)).toEqual(['edits.csv']);
  });

  it('says which columns fill in texts of --set, and knows no price of rows that have none', async () => {
    await write('jobs.csv', [
      'id,endpoint,customer,subject,note',
      'a,grind,acme,owl,x',
      'b,grind,acme,cat,y',
    ]);
    const args = [
      'plan',
      'jobs.csv',
      '--set',
      'input.prompt={{style}} {{subject}}',
      '--each',
      'style=oil,ink',
    ];
    const { stdout } = await millrace([...args, '--cost-by', 'customer'], { cwd });
    expect(stdout).toMatch(/^ {2}filled in {4}subject, style, by --set\n {2}not sent {5}customer, note$/m);
    expect(stdout).toContain('  by style     oil 2, ink 2\n');
    expect(stdout).toContain('  by customer  1 value\n               acme: 4 rows of no known price\n');
    const json = JSON.parse((await millrace([...args, '--json'], { cwd })).stdout) as object;
    expect(json).toMatchObject({ columnsFilledIn: ['subject', 'style'] });
    await write('edits.csv', ['id,images,prompts', `a,${image},owl`]);
    const near = ['plan', 'edits.csv', '--endpoint', 'image-edit', '--set', 'prompt={{prompts}}'];
    expect((await millrace(near, { cwd })).stdout).not.toContain('did you mean');
  });

  it('prints one JSON object and nothing else on stdout', async () => {
    await write('rows.jsonl', [
      JSON.stringify({ images: [image], prompt: 'grayscale' }),
      JSON.stringify({ images: [image], prompt: 'grayscale' }),
      JSON.stringify({ input: { n: 1 }, endpoint: 'echo' }),
    ]);
    const { code, stdout } = await millrace(['plan', 'rows.jsonl', '--endpoint', 'image-edit', '--json'], {
      cwd,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      rows: 3,
      byKind: { edit: 2, job: 1 },
      byResolution: { '1k': 2 },
      repeats: 1,
      invalid: 0,
      cost: { estimated: 0.175 },
    });
    expect(code).toBe(0);
  });

  it('names each invalid row with its line and rule, and exits 2', async () => {
    await write('bad.csv', [
      'id,kind,images,prompt,resolution',
      `kind,edits,${image},p,`,
      'none,edit,,p,',
      `size,edit,${image},p,8k`,
      `many,edit,${Array.from({ length: 15 }, () => image).join('|')},p,`,
      `twice,edit,${image},p,`,
      `twice,edit,${image},q,`,
      'ftp,edit,ftp://pictures.example.com/1.png,p,',
    ]);
    const { code, stderr } = await millrace(['plan', 'bad.csv', '--endpoint', 'image-edit'], { cwd });
    const lines = stderr.split('\n');
    for (const [line, id, rule] of [
      [2, 'kind', 'edits'],
      [3, 'none', 'images'],
      [4, 'size', '8k'],
      [5, 'many', '15'],
      [7, 'twice', 'id'],
      [8, 'ftp', 'ftp'],
    ] as const) {
      expect(lines).toContainEqual(
        expect.stringMatching(new RegExp(`^bad\\.csv, line ${line} .*${id}.*${rule}`)),
      );
    }
    expect(stderr).toContain('error: bad.csv has 6 invalid rows: nothing was sent');
    expect(code).toBe(2);
  });

  it('says equal problems once, with the lines of the first 20 rows and a count', async () => {
    await write('bad.csv', [
      'id,images,prompt',
      ...Array.from({ length: 50 }, (_, n) => `r${n},pic${n}.png,p`),
    ]);
    const { code, stderr } = await millrace(['plan', 'bad.csv', '--endpoint', 'image-edit'], { cwd });
    expect(stderr.match(/^bad\.csv, line/gm)).toHaveLength(1);
    expect(stderr).toContain(
      'bad.csv, line 2 (row 1, id "r0"), column images: image 1: "pic0.png" is a path:',
    );
    expect(stderr).toContain(
      '\n  49 other rows are like it: lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, …\n',
    );
    expect(stderr).toContain('50 invalid rows');
    expect(code).toBe(2);
  });

  it('takes pictures below --images-base by their paths', async () => {
    await write('edits.csv', [
      'id,images,prompt',
      'a,in/1 #2.png,p'.replace(' ', '%20'),
      'b,"[""in/a b?.png""]",p',
    ]);
    const args = ['plan', 'edits.csv', '--endpoint', 'image-edit', '--images-base', 'https://cdn.test/x'];
    expect((await millrace(args, { cwd })).code).toBe(0);
    const refused = await millrace([...args, '--local'], { cwd });
    expect(refused.stderr).toContain('--images-base: does not go with --local');
    await write('edits.csv', ['id,images,prompt', 'a,../1.png,p']);
    expect((await millrace(args, { cwd })).stderr).toContain(
      'is not a path below --images-base https://cdn.test/x',
    );
  });

  it('prices a GET route as the run does: a read is free', async () => {
    await write('routes.csv', ['id,route,method', 'a,/info,GET', 'b,/echo,POST']);
    const { stdout } = await millrace(['plan', 'routes.csv'], { cwd });
    expect(stdout).toContain('  price        1 row of no known price\n');
  });

  it('prices only the part that is asked for', async () => {
    await write('edits.csv', ['id,images,prompt', `a,${image},p`, `b,${image},p`, `c,${image},p`]);
    const part = async (...args: string[]) =>
      JSON.parse(
        (await millrace(['plan', 'edits.csv', '--endpoint', 'e', '--json', ...args], { cwd })).stdout,
      );
    expect(await part('--limit', '2')).toMatchObject({ rows: 2, cost: { estimated: 0.175 } });
    expect(await part('--only', 'c')).toMatchObject({ rows: 1, cost: { estimated: 0.0875 } });
    const { code, stderr } = await millrace(['plan', 'edits.csv', '--endpoint', 'e', '--only', 'c,nobody'], {
      cwd,
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'error: --only: no row has the id "nobody"\n' });
  });

  it('refuses a choice that is empty since its parts exclude each other: nothing to do would be exit 0', async () => {
    await write('edits.csv', ['id,images,prompt,who', `a,${image},p,x`, `b,${image},q,y`]);
    const args = ['edits.csv', '--endpoint', 'e', '--only', 'who=x,b'];
    const env = { MILLRACE_API_KEY: 'k', MILLRACE_BASE_URL: 'http://127.0.0.1:9' };
    for (const command of ['plan', 'run'])
      expect(await millrace([command, ...args], { cwd, env })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('no row is named by all of them together'),
      });
  });

  it('refuses two caps of one column, of which the last would hold', async () => {
    await write('edits.csv', ['id,images,prompt,who', `a,${image},p,x`]);
    const caps = ['--max-cost-by', 'who=0.1', '--max-cost-by', 'who=5'];
    expect(await millrace(['plan', 'edits.csv', '--endpoint', 'e', ...caps], { cwd })).toMatchObject({
      code: 2,
      stderr: 'error: --max-cost-by: "who" is given twice; leave one of them\n',
    });
  });

  it('reads a manifest from stdin', async () => {
    const { code, stdout } = await millrace(['plan', '-', '--format', 'csv', '--endpoint', 'e', '--json'], {
      cwd,
      input: `images,prompt\n${image},p\n`,
    });
    expect(JSON.parse(stdout)).toMatchObject({ rows: 1 });
    expect(code).toBe(0);
  });

  it('says where it cannot keep stdin meanwhile', async () => {
    vi.stubEnv('TMPDIR', join(cwd, 'nowhere'));
    const plan = millrace(['plan', '-', '--format', 'csv', '--endpoint', 'e'], { cwd, input: 'id\n' });
    const { code, stderr } = await plan.finally(() => vi.unstubAllEnvs());
    expect({ code }).toEqual({ code: 74 });
    expect(stderr).toContain(`error: ${join(cwd, 'nowhere')}: ENOENT`);
  });

  it('finds rows of stdin that ask for the same, as of a file', async () => {
    const input = `id,images,prompt\na,${image},p\nb,${image},p\n`;
    const call = (...args: string[]) =>
      millrace(['plan', '-', '--format', 'csv', '--endpoint', 'e', ...args], { cwd, input });
    expect((await call()).stdout).toContain(
      '  same         1 row asks for exactly what another row asks for',
    );
    const refused = await call('--same', 'refuse');
    expect(refused.stderr).toContain('stdin, line 3 (id "b") asks for the same as line 2');
    expect(refused.code).toBe(2);
    const saved = await call('--same', 'refuse', '--save', 'stdin.plan');
    expect(saved.code).toBe(2);
    expect(await readdir(cwd)).not.toContain('stdin.plan.tmp');
  });

  it('looks for pictures beside the manifest with --local', async () => {
    await write('edits.csv', ['id,images,prompt', 'a,nowhere.png,p']);
    const { code, stderr } = await millrace(['plan', 'edits.csv', '--endpoint', 'image-edit', '--local'], {
      cwd,
    });
    expect(stderr).toMatch(/line 2 .*nowhere\.png.*does not exist/);
    expect(code).toBe(2);
  });

  it('lets no control character of a manifest reach the terminal', async () => {
    await write('edits.csv', ['id,images,prompt,\u001b[2Jclear', `a\u001b]0;t\u0007,ftp://x/\u001b[31m,p,`]);
    const { stdout, stderr } = await millrace(['plan', 'edits.csv', '--endpoint', 'e'], { cwd });
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });

  describe('on a folder that has begun', () => {
    let work: Rehearsal;
    beforeEach(async () => {
      let posts = 0;
      const faultOf: EmulatorOptions['faultOf'] = ({ operation }) =>
        operation === 'run' && ++posts === 4 ? 'reset-after' : '';
      work = await openRehearsal({ faultOf });
    });
    afterEach(() => work.close());

    it('refuses a journal that is older than the files beside it, as a start does [fault 19b]', async () => {
      const rows = ['a', 'b'].map((id) => JSON.stringify({ id, endpoint: 'echo', input: {} }));
      await work.write('rows.jsonl', rows);
      const args = ['rows.jsonl', '--assume-price', '0.02', '--max-cost', '1'];
      await work.call('run', ...args, '--limit', '1');
      const journal = join(work.folder, 'rows.out', 'journal.jsonl');
      const older = await readFile(journal);
      await work.call('run', ...args);
      await writeFile(journal, older);
      const { code, stderr } = await work.call('plan', ...args);
      expect([code, stderr]).toEqual([74, expect.stringContaining('has lost records')]);
    });

    it('prints the difference, what this start would cost under the cap, and how long it takes', async () => {
      const row = (id: string, input: object = {}) => JSON.stringify({ id, endpoint: 'echo', input });
      const first = [row('a'), row('b'), row('c', { fail: 'no' }), row('d'), row('e')];
      await work.write('rows.jsonl', first);
      expect(
        (
          await work.call(
            'run',
            'rows.jsonl',
            '--assume-price',
            '0.02',
            '--max-cost',
            '1',
            '--concurrency',
            '1',
          )
        ).code,
      ).toBe(6);
      const bought = work.emulator.bill().length;
      await work.write('rows.jsonl', [
        row('a'),
        row('b', { other: 1 }),
        ...first.slice(2, 4),
        row('f'),
        row('g'),
      ]);
      const args = [
        'plan',
        'rows.jsonl',
        '--assume-price',
        '0.02',
        '--retry',
        'failed',
        '--max-cost',
        '0.13',
      ];
      const before = await work.everything('rows.out');
      const { code, stdout } = await work.call(...args);
      expect(code).toBe(0);
      expect(stdout).toContain(
        [
          '  folder       rows.out: this continues the run, with the following differences',
          '  done         3 completed, 1 failed',
          '  to be sent   3 rows (1 failed before)',
          '  changed      1 row, kept as bought: b',
          '  in doubt     1 row: look at the account; `millrace settle rows.out` lists the ways to decide',
          '  not in it    1 row of earlier starts, kept',
          '  bought       2 rows ask for what the run has bought already under other ids; each is bought again: $0.04',
          '               line 5 (id "f") asks for what the run has bought already, for row "b", which is not in the manifest or has changed',
          '               line 6 (id "g") asks for what the run has bought already, for row "b", which is not in the manifest or has changed',
          '  cap          $0.13, given to this start, with $0.05 left: 2 of 3 rows fit, for $0.04',
          '  this start   may cost $0.04, and take about ',
        ].join('\n'),
      );
      const json = JSON.parse((await work.call(...args, '--json')).stdout) as object;
      expect(json).toMatchObject({
        start: {
          isBegun: true,
          done: { completed: 3, failed: 1, held: 1 },
          toSend: 3,
          retried: 1,
          gone: 1,
          changed: { count: 1, ids: ['b'] },
          cap: { usd: 0.13, source: 'given', left: 0.05 },
          fits: { rows: 2, cost: 0.04 },
          cost: { estimated: 0.06, unpriced: 0 },
        },
      });
      expect((await work.call('plan', 'rows.jsonl', '--assume-price', '0.02')).stdout).toContain(
        '$1.00, which the run remembers',
      );
      expect(await work.everything('rows.out')).toEqual(before);
      expect(work.emulator.bill()).toHaveLength(bought);
    });

    it('refuses the folder as a start would', async () => {
      await work.write('rows.jsonl', ['{"id": "a", "endpoint": "echo", "input": {}}']);
      await work.write('o/results.csv', ['theirs']);
      const { code, stderr } = await work.call('plan', 'rows.jsonl', '--out', 'o');
      expect(code).toBe(2);
      expect(stderr).toContain('is not the folder of a run');
    });
  });
});
