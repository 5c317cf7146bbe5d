import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { lastValueFrom, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../../../runners/emulator/index.js';
import { millrace, startMillrace } from '../../../support/millrace.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';
import { until } from '../../../support/until.js';

const key = 'canary-77aa11';

/** `grind` reports what it costs, `upscale` only how long it took. */
const functions = {
  queue: {
    grind: async (
      { ms = 0, stuck = false }: { ms?: number; stuck?: boolean },
      job: { sleep(ms: number): Promise<void> },
    ) => {
      await job.sleep(ms);
      if (stuck) throw new Error('the mill is stuck');
      return { cost: 0.01 };
    },
    upscale: async (_: unknown, job: { sleep(ms: number): Promise<void> }) => {
      await job.sleep(30);
      return { done: true };
    },
  },
};

describe('the money of millrace run', () => {
  let work: Workplace;
  let emulator: Emulator;
  beforeEach(async () => {
    work = await openWorkplace();
    await work.write('prices.json', [
      '{"endpoints": {"grind": {"usdPerJob": 0.01}, "upscale": {"usdPerSecond": 0.0004}}}',
    ]);
  });
  afterEach(async () => {
    await emulator.close();
    await work.remove();
  });

  const serve = async (options: EmulatorOptions = {}) =>
    void (emulator = await startEmulator({ key, functions, workers: 8, ...options }));
  const options = () => ({
    cwd: work.folder,
    env: {
      MILLRACE_API_KEY: key,
      MILLRACE_BASE_URL: emulator.baseUrl,
      XDG_STATE_HOME: join(work.folder, 'state'),
    },
  });
  const run = (...args: string[]) => millrace(['run', ...args, '--prices', 'prices.json'], options());
  const jobs = (endpoint: string, count: number, input: object = {}, name = endpoint) =>
    work.write(
      `${name}.jsonl`,
      Array.from({ length: count }, (_, n) =>
        JSON.stringify({ id: `${endpoint}-${n}`, endpoint, input: { n, ...input } }),
      ),
    );
  const spent = () => emulator.bill().reduce((sum, { costMicroDollars }) => sum + costMicroDollars, 0);

  it('does not buy a manifest again in another folder, unless that is agreed to', async () => {
    await serve();
    await jobs('grind', 3);
    const monday = await run('grind.jsonl', '--out', 'monday');
    expect(monday.code).toBe(0);
    const bill = spent();
    const tuesday = await run('grind.jsonl', '--out', 'tuesday');
    expect(tuesday.code).toBe(2);
    expect(tuesday.stderr).toContain(
      `3 rows ask for what was bought already, in ${join(work.folder, 'monday')}`,
    );
    expect(tuesday.stderr).toContain('or buy them again with --yes; nothing was sent');
    expect(spent()).toBe(bill);
    const plan = await millrace(
      ['plan', 'grind.jsonl', '--out', 'tuesday', '--prices', 'prices.json', '--json'],
      options(),
    );
    expect(JSON.parse(plan.stdout)).toMatchObject({
      start: { isBegun: false, bought: { rows: 3, elsewhere: [join(work.folder, 'monday')] } },
    });
    expect((await run('grind.jsonl', '--out', 'monday')).code).toBe(0);
    expect((await run('grind.jsonl', '--out', 'tuesday', '--yes')).code).toBe(0);
    expect(spent()).toBe(2 * bill);
  });

  it('does not buy a manifest again in a folder that is gone, such as a disk that is not mounted, unless that is agreed to', async () => {
    await serve();
    await jobs('grind', 3);
    expect((await run('grind.jsonl')).code).toBe(0);
    const bill = spent();
    await rename(join(work.folder, 'grind.out'), join(work.folder, 'unmounted'));
    const again = await run('grind.jsonl');
    expect(again.code).toBe(2);
    const words = `3 rows ask for what may have been bought already, in ${join(work.folder, 'grind.out')}, whose journal is gone`;
    expect(again.stderr).toContain(words);
    expect(again.stderr).toContain('put that folder back, or buy them again with --yes; nothing was sent');
    expect(spent()).toBe(bill);
    expect((await millrace(['plan', 'grind.jsonl', '--prices', 'prices.json'], options())).stdout).toContain(
      words,
    );
    expect((await run('grind.jsonl', '--yes')).code).toBe(0);
    expect(spent()).toBe(2 * bill);
    expect((await run('grind.jsonl')).code).toBe(0);
  });

  it('does not buy again what a run has bought that was killed, and whose folder is gone, unless that is agreed to', async () => {
    await serve();
    await jobs('grind', 12, { ms: 60_000 });
    const command = [
      'run',
      'grind.jsonl',
      '--prices',
      'prices.json',
      '--max-cost',
      '1',
      '--concurrency',
      '4',
    ];
    const killed = startMillrace([...command, '--out', 'monday'], options());
    await until(() => emulator.bill().length === 4);
    killed.child.kill('SIGKILL');
    await killed.ended;
    await rename(join(work.folder, 'monday'), join(work.folder, 'moved'));
    const sent = emulator.bill().length;
    const tuesday = await startMillrace([...command, '--out', 'tuesday'], options()).ended;
    expect(tuesday.stderr).toContain(
      `4 rows ask for what may have been bought already, in ${join(work.folder, 'monday')}, whose journal is gone`,
    );
    expect(tuesday.code).toBe(2);
    expect(emulator.bill()).toHaveLength(sent);
  });

  it.each<[string, string, () => Promise<void>]>([
    [
      'that is a link to a disk which is empty now',
      'link',
      async () => {
        await rename(join(work.folder, 'disk'), join(work.folder, 'unmounted'));
        await mkdir(join(work.folder, 'disk'));
      },
    ],
    [
      'below a link, with the folder above it',
      'link/runs/grind',
      () => rename(join(work.folder, 'disk/runs'), join(work.folder, 'unmounted')),
    ],
    [
      'and the manifest was renamed',
      'disk/grind',
      async () => {
        await rename(join(work.folder, 'disk/grind'), join(work.folder, 'unmounted'));
        await rename(join(work.folder, 'grind.jsonl'), join(work.folder, 'renamed.jsonl'));
      },
    ],
    [
      'and one of the rows was bought in another folder, too',
      'disk/grind',
      async () => {
        await run('grind.jsonl', '--out', 'other', '--limit', '1', '--yes');
        await rename(join(work.folder, 'disk/grind'), join(work.folder, 'unmounted'));
      },
    ],
  ])('knows a folder that is gone %s', async (_, out, lose) => {
    await serve();
    await jobs('grind', 3);
    await mkdir(join(work.folder, 'disk'));
    await symlink(join(work.folder, 'disk'), join(work.folder, 'link'));
    expect((await run('grind.jsonl', '--out', out)).code).toBe(0);
    await lose();
    const bill = spent();
    const [manifest = ''] = (await readdir(work.folder)).filter((name) => name.endsWith('.jsonl'));
    const again = await run(manifest, '--out', out);
    expect(again.stderr).toContain('3 rows ask for what may have been bought already, in ');
    expect(again.code).toBe(2);
    expect(spent()).toBe(bill);
  });

  it('does not buy a manifest again that was copied into another folder, unless that is agreed to', async () => {
    await serve();
    await jobs('grind', 3);
    expect((await run('grind.jsonl', '--out', 'monday')).code).toBe(0);
    const bill = spent();
    await work.write('tuesday/grind.jsonl', [
      ...Array.from({ length: 3 }, (_, n) =>
        JSON.stringify({ id: `t-${n}`, endpoint: 'grind', input: { n } }),
      ),
      JSON.stringify({ id: 'new', endpoint: 'grind', input: { n: 3 } }),
    ]);
    const plan = await millrace(['plan', 'tuesday/grind.jsonl', '--prices', 'prices.json'], options());
    const words = `3 rows ask for what was bought already, in ${join(work.folder, 'monday')}`;
    expect(plan.stdout).toContain(words);
    const tuesday = await run('tuesday/grind.jsonl');
    expect(tuesday.code).toBe(2);
    expect(tuesday.stderr).toContain(words);
    expect(spent()).toBe(bill);
    expect((await run('tuesday/grind.jsonl', '--yes')).code).toBe(0);
    expect(spent()).toBe(bill + 40_000);
  });

  it.each([
    ['the book has', '{"endpoints": {"grind": {"usdPerJob": 0.004}}}', []],
    ['is assumed', '{}', ['--assume-price', '0.004']],
  ])(
    'stops where more than twice the price is charged that %s, and nobody has agreed to it',
    async (_, prices, assumed) => {
      await serve();
      await work.write('prices.json', [prices]);
      await jobs('grind', 60);
      const call = ['grind.jsonl', ...assumed, '--concurrency', '4'];
      const first = await run(...call);
      expect(first.code).toBe(3);
      expect(first.stderr + first.stdout).toContain(
        'the service charges more for grind than expected: 150 % over the estimate, and 100 % is allowed',
      );
      const bought = emulator.bill().length;
      expect(bought).toBeLessThanOrEqual(12);
      expect((await run(...call)).code).toBe(3);
      expect(emulator.bill()).toHaveLength(bought);
      expect((await run(...call, '--yes')).code).toBe(0);
      expect(emulator.bill()).toHaveLength(60);
    },
  );

  it('stops at the first price of rows of no known price that cost more than $25 together, until that is agreed to', async () => {
    const dear = { queue: { dear: () => ({ cost: 1 }) } };
    await serve({ functions: dear });
    await work.write('prices.json', ['{}']);
    await jobs('dear', 40);
    const call = ['dear.jsonl', '--concurrency', '2'];
    expect((await run(...call, '--limit', '3')).code).toBe(0);
    const before = emulator.bill().length;
    const other = ['dear.jsonl', '--concurrency', '2', '--out', 'other.out'];
    const first = await run(...other);
    expect(first.code).toBe(3);
    expect(first.stdout + first.stderr).toContain(
      'the service charges $1.00 for dear, whose price was not known: 40 such rows cost $40.00',
    );
    const bought = emulator.bill().length;
    expect(bought - before).toBeLessThanOrEqual(6);
    expect((await run(...other)).code).toBe(2);
    expect(emulator.bill()).toHaveLength(bought);
    expect((await run(...other, '--yes')).code).toBe(0);
    expect(emulator.bill()).toHaveLength(before + 40);
  });

  it('spends no more than $25 on rows whose price is in no list, whatever they cost at first, until that is agreed to', async () => {
    let cost = 0.01;
    const rising = { queue: { rising: () => ({ cost }) } };
    await serve({ functions: rising });
    await jobs('rising', 60);
    const call = ['rising.jsonl', '--concurrency', '2'];
    expect((await run(...call, '--limit', '3')).code).toBe(0);
    cost = 1;
    const second = await run(...call);
    expect(second.code).toBe(3);
    expect(second.stderr).toContain('may cost     $0.57');
    expect(second.stdout).toMatch(
      /rows without a listed price have cost \$2[67]\.00 in this start, and nobody has agreed to more than \$25\.00/,
    );
    const bought = emulator.bill().length;
    expect(bought).toBeLessThanOrEqual(3 + 26 + 3);
    expect((await run(...call)).code).toBe(2);
    expect(emulator.bill()).toHaveLength(bought);
    expect((await run(...call, '--yes')).code).toBe(0);
    expect(emulator.bill()).toHaveLength(60);
  });

  describe('a price per picture of a job', () => {
    const resolutions = ['1k', '2k', '4k', '4K', undefined, '8k', 4, 'hd'];
    const expected = ['1k', '2k', '4k', 'other', '1k', 'other', 'other', 'hd'];
    const usd: Record<string, number> = { '1k': 0.08, '2k': 0.12, '4k': 0.16, hd: 0.1, other: 0.16 };
    const prices = {
      endpoints: { upscale: { usdPerPicture: { '1k': 0.08, '2k': 0.12, '4k': 0.16, hd: 0.1 } } },
    };
    const sum = expected.reduce((total, resolution) => total + (usd[resolution] ?? 0), 0);
    beforeEach(async () => {
      await serve();
      await work.write('prices.json', [JSON.stringify(prices)]);
      await work.write(
        'pictures.jsonl',
        resolutions.map((resolution, n) =>
          JSON.stringify({
            id: `p${n}`,
            endpoint: 'upscale',
            input: { images: ['x'], prompt: 'p', resolution },
          }),
        ),
      );
    });

    it('is that of the resolution in its input, in the plan, the costs and the summary', async () => {
      const plan = ['plan', 'pictures.jsonl', '--prices', 'prices.json'];
      expect(JSON.parse((await millrace([...plan, '--json'], options())).stdout)).toMatchObject({
        byResolution: { '1k': 2, '2k': 1, '4k': 1, hd: 1, other: 3 },
        cost: { estimated: sum },
      });
      const text = (await millrace(plan, options())).stdout;
      expect(text).toContain(
        '3 jobs with a resolution that has no price; the highest price of their endpoint is taken',
      );
      expect(text).not.toContain('of no known price');
      expect((await millrace([...plan, '--save', 'p.plan'], options())).code).toBe(0);
      const bought = await millrace(['run', '--plan', 'p.plan'], options());
      expect(bought.code, bought.stderr).toBe(0);
      const costs = (await readFile(join(work.folder, 'pictures.out/costs.csv'), 'utf8'))
        .trim()
        .split(/\r?\n/);
      const lines = costs.slice(1).map((line) => line.split(','));
      expect(
        Object.fromEntries(lines.map(([id = '', , , , , at = '', cost]) => [id, `${at} ${cost}`])),
      ).toEqual(Object.fromEntries(expected.map((at, n) => [`p${n}`, `${at} ${usd[at]}`])));
      const summary = JSON.parse(await readFile(join(work.folder, 'pictures.out/summary.json'), 'utf8')) as {
        cost: object;
      };
      expect(summary.cost).toMatchObject({ estimated: sum, byResolution: { other: { estimated: 0.48 } } });
    });

    it('is reserved under a cap', async () => {
      const capped = await run('pictures.jsonl', '--max-cost', '0.5', '--concurrency', '1');
      expect(capped.code).toBe(3);
      expect(emulator.bill().length).toBe(3);
    });
  });

  describe('a price a second of executionTime', () => {
    it('is an estimate in costs.csv and in the summary, and unknown in the plan', async () => {
      await serve();
      await jobs('upscale', 3);
      const { stdout } = await millrace(['plan', 'upscale.jsonl', '--prices', 'prices.json'], options());
      expect(stdout).toContain('grind a job $0.01, upscale a second $0.0004 (prices.json)\n');
      expect(stdout).toContain('  price        3 rows of no known price\n');
      const { code, stdout: printed } = await run('upscale.jsonl');
      expect(code).toBe(0);
      expect(printed).toMatch(/\$0\.00 reported, \$0\.0\d+ estimated\n/);
      const results = await work.lines('upscale.out/results.jsonl');
      const expected = results.map(({ id, executionTime }) => [
        id,
        Math.ceil(0.4 * Number(executionTime) - 1e-6) / 1e6,
      ]);
      const costs = (await readFile(join(work.folder, 'upscale.out/costs.csv'), 'utf8'))
        .trim()
        .split('\n')
        .slice(1);
      const reported = costs
        .map((line) => line.split(','))
        .map(([id, , , , , , cost, source]) => [id, Number(cost), source]);
      expect(reported.sort()).toEqual(expected.map(([id, cost]) => [id, cost, 'estimated']).sort());
      const total = expected.reduce((sum, [, cost]) => sum + Number(cost), 0);
      const summary = await work.json('upscale.out/summary.json');
      expect(summary).toMatchObject({
        cost: { reported: 0, estimated: expect.closeTo(total, 9), drift: 0 },
        prices: { 'upscale a second': 0.0004, '1k': 0.0875 },
        priceTable: { name: 'prices.json' },
      });
    });

    it('does not go under a cap unless a price is assumed, and nothing is sent', async () => {
      await serve();
      await jobs('upscale', 3);
      const refused = await run('upscale.jsonl', '--max-cost', '1');
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(
        '3 rows have no known price (such as line 1, id "upscale-0"), so a cost cap',
      );
      expect(refused.stderr).toContain('or lift the cap (such as --max-cost none)');
      for (const cap of [
        ['--max-cost', '1'],
        ['--max-cost-by', 'id=1'],
      ]) {
        const planned = await millrace(['plan', 'upscale.jsonl', ...cap], options());
        expect(planned).toMatchObject({ code: 2, stdout: '', stderr: refused.stderr });
      }
      expect((await run('upscale.jsonl', '--max-cost-per-day', '1')).code).toBe(2);
      expect(emulator.bill()).toEqual([]);
      const { code, stdout } = await millrace(['plan', 'upscale.jsonl', '--assume-price', '0.4'], options());
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('  price        $1.20\n'),
      });
      expect(
        (await run('upscale.jsonl', '--max-cost', '1', '--assume-price', '0.6', '--concurrency', '1')).code,
      ).toBe(0);
      expect(await work.json('upscale.out/summary.json')).toMatchObject({
        prices: { assumed: 0.6 },
        cost: { cap: 1 },
      });
    });
  });

  describe("a price that is not the book's", () => {
    it('is told once, with the figure', async () => {
      await serve({ faults: 'price=1:1.2' });
      await jobs('grind', 5);
      const { code, stderr } = await run('grind.jsonl');
      expect(code).toBe(0);
      expect(stderr.match(/warning: The service charges/g)).toHaveLength(1);
      expect(stderr).toContain('The service charges $0.012 for grind; $0.01 was expected.');
      expect(await work.json('grind.out/summary.json')).toMatchObject({
        priceTable: { name: 'prices.json', reported: { 'grind a job': 0.012 } },
      });
    });

    it('stops the run beyond --max-price-drift, also the next start, until more is allowed', async () => {
      await serve({ faults: 'price=1:1.2' });
      await jobs('grind', 12);
      const first = await run('grind.jsonl', '--max-price-drift', '10%', '--concurrency', '2');
      expect(first.code).toBe(3);
      expect(first.stdout).toContain('20 % over the estimate, and 10 % is allowed');
      const bought = emulator.bill().length;
      expect(bought).toBeLessThanOrEqual(4);
      expect((await run('grind.jsonl', '--max-price-drift', '10')).code).toBe(3);
      expect(emulator.bill()).toHaveLength(bought);
      expect((await run('grind.jsonl', '--max-price-drift', '20%')).code).toBe(0);
      expect(emulator.bill()).toHaveLength(12);
    });
  });

  describe('a price that is many times that of the plan, to which nobody agreed', () => {
    it('stops a run whose cap was lifted, also where the configuration has a cap', async () => {
      await serve({ faults: 'price=1:3' });
      await jobs('grind', 12);
      await work.write('millrace.config.json', ['{"max_cost": "5"}']);
      expect((await run('grind.jsonl', '--max-cost', 'none', '--limit', '1')).code).toBe(3);
      expect((await run('grind.jsonl')).code).toBe(3);
      expect(emulator.bill()).toHaveLength(1);
    });

    it('does not stop a run that remembers its cap, below that', async () => {
      await serve({ faults: 'price=1:3' });
      await jobs('grind', 12);
      expect((await run('grind.jsonl', '--max-cost', '5', '--limit', '1')).code).toBe(0);
      expect((await run('grind.jsonl')).code).toBe(0);
      expect(emulator.bill()).toHaveLength(12);
    });
  });

  describe('a cap for a day', () => {
    it('holds over two runs that race for it, and the next day is another one', async () => {
      await serve();
      await jobs('grind', 30, { ms: 20 }, 'one');
      await jobs('grind', 30, { ms: 21 }, 'two');
      const race = (out: string) =>
        startMillrace(
          [
            ...['run', `${out}.jsonl`, '--prices', 'prices.json', '--out', out],
            ...['--max-cost-per-day', '0.25', '--ledger', 'day.jsonl', '--concurrency', '4', '--yes'],
          ],
          options(),
        ).ended;
      const ends = await Promise.all([race('one'), race('two')]);
      expect(ends.map(({ code }) => code)).toEqual([3, 3]);
      expect(ends[0].stdout).toContain(
        'Stopped at the cost cap of a day: $0.01 does not fit under the $0.25 a day of',
      );
      expect(spent()).toBe(250_000);
      const done = await Promise.all(['one', 'two'].map((out) => work.lines(`${out}/results.jsonl`)));
      expect(done.flat()).toHaveLength(25);
      expect((await race('one')).code).toBe(3);
      expect(spent()).toBe(250_000);
      expect((await run('one.jsonl', '--out', 'one')).code).toBe(0);
    });

    it('is warned of once, by what all runs have taken, with --quiet too', async () => {
      await serve();
      await jobs('grind', 10);
      const part = async (out: string, limit: number) => {
        const day = [
          '--yes',
          '--max-cost-per-day',
          '0.1',
          '--ledger',
          'day.jsonl',
          '--warn-at',
          '80%',
          '--quiet',
          '--concurrency',
          '1',
        ];
        const { code, stderr } = await run('grind.jsonl', '--out', out, '--limit', String(limit), ...day);
        return { code, stderr };
      };
      expect(await part('one', 5)).toEqual({ code: 0, stderr: '' });
      const spoken =
        '$0.08 of the $0.10 of --max-cost-per-day, by all runs in 24 hours, are spent, reserved or in doubt (--warn-at 80%).';
      expect(await part('two', 4)).toEqual({ code: 0, stderr: `warning: ${spoken}\n` });
      const logged = await work.lines('two/run.log');
      expect(logged.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([spoken]);
      expect(await part('two', 1)).toEqual({ code: 0, stderr: '' });
      expect(spent()).toBe(100_000);
    });

    it('keeps its ledger in the state folder, and a rehearsal another one', async () => {
      await serve();
      await jobs('grind', 3);
      expect((await run('grind.jsonl', '--max-cost-per-day', '0.02')).code).toBe(3);
      expect(await work.lines('state/millrace/ledger.jsonl')).toHaveLength(5);
      await work.write('echo.jsonl', ['{"endpoint": "echo", "input": {}}']);
      const rehearsal = ['echo.jsonl', '--local', '--max-cost-per-day', '0.02', '--assume-price', '0.02'];
      expect((await run(...rehearsal)).code).toBe(0);
      expect(await work.lines('state/millrace/ledger.local.jsonl')).toHaveLength(3);
      expect(await work.lines('state/millrace/ledger.jsonl')).toHaveLength(5);
    });

    it('counts what a killed run left, and its next start puts it right', async () => {
      const killing = new Subject<void>();
      const afterKill = lastValueFrom(killing, { defaultValue: undefined });
      const grind = () => afterKill.then(() => ({ cost: 0.01 }));
      await serve({ functions: { queue: { grind } } });
      await jobs('grind', 8);
      const args = [
        'run',
        'grind.jsonl',
        '--prices',
        'prices.json',
        '--max-cost-per-day',
        '0.08',
        '--ledger',
        'day.jsonl',
        '--concurrency',
        '4',
      ];
      const killed = startMillrace(args, options());
      const journal = join(work.folder, 'grind.out/journal.jsonl');
      const accepted = async () =>
        (await readFile(journal, 'utf8').catch(() => '')).match(/"k":"accepted"/g) ?? [];
      await until(async () => (await accepted()).length >= 4);
      killed.child.kill('SIGKILL');
      await killed.ended;
      killing.complete();
      const { code, stdout } = await millrace(args, options());
      expect(stdout).toContain('8 of 8 rows');
      expect(code).toBe(0);
      expect(spent()).toBe(80_000);
      const entries = await work.lines('day.jsonl');
      const sum = entries.reduce((total, { k, amount }) => total + (k === 'settle' ? Number(amount) : 0), 0);
      expect(sum).toBe(80_000);
    });

    it('ends with 74 where the ledger cannot be used, and nothing is sent', async () => {
      await serve();
      await jobs('grind', 3);
      await mkdir(join(work.folder, 'day.jsonl'));
      const { code, stderr, stdout } = await run(
        'grind.jsonl',
        '--max-cost-per-day',
        '1',
        '--ledger',
        'day.jsonl',
      );
      expect({ code, bill: emulator.bill() }).toEqual({ code: 74, bill: [] });
      expect(stderr + stdout).toContain('day.jsonl');
    });
  });

  describe('the cap of a run', () => {
    it('is remembered, shown with its source, changed by a flag, and lifted by none', async () => {
      await serve();
      await jobs('grind', 5);
      const args = ['grind.jsonl', '--concurrency', '1'];
      const first = await run(...args, '--max-cost', '0.02');
      expect(first.code).toBe(3);
      expect(first.stderr).toContain(
        '  cap          $0.02, given to this start: 2 of 5 rows fit, for $0.02\n',
      );
      const second = await run(...args);
      expect({ code: second.code, spent: spent() }).toEqual({ code: 3, spent: 20_000 });
      expect(second.stderr).toContain('$0.02, which the run remembers, with $0.00 left: 0 of 3 rows fit');
      await work.write('millrace.config.json', ['{"max_cost": "0.03"}']);
      expect((await run(...args)).code).toBe(3);
      const { stdout } = await millrace(['status', 'grind.out'], options());
      expect(stdout).toContain('  cap          $0.02 for every start of this run, which remembers it');
      const lifted = await run(...args, '--max-cost', 'none', '--limit', '1');
      expect(lifted.code).toBe(0);
      expect((await run(...args)).code).toBe(0);
      expect(spent()).toBe(50_000);
    });

    it('leaves rows of a redo to go, and the command that is printed for them has the redo', async () => {
      await serve();
      await jobs('grind', 3);
      await run('grind.jsonl');
      await jobs('grind', 3, { finer: true });
      const { code, stdout } = await run('grind.jsonl', '--changed', 'redo', '--max-cost', '0.04');
      expect(code).toBe(3);
      expect(stdout).toMatch(/2 rows to go\n.*\n {6}millrace plan .* --changed redo --max-cost none\n/);
      expect(stdout).toContain('cap of $0.04: $0.04 were spent, reserved or in doubt, and the next row');
      const status = await millrace(['status', 'grind.out'], options());
      const [, command = ''] = /^ +millrace (plan .*)$/m.exec(status.stdout) ?? [];
      const plan = await millrace(command.split(' '), options());
      expect(plan.stdout).toContain('to be sent   2 rows');
    });

    it('names the manifest of a redo in the command for its rows that failed, and no other one', async () => {
      await serve();
      await jobs('grind', 3);
      await run('grind.jsonl');
      await jobs('grind', 2, { stuck: true }, 'finer');
      const { code, stdout } = await run('finer.jsonl', '--out', 'grind.out', '--changed', 'redo');
      expect(code).toBe(1);
      const again = /^ +millrace (run .* --retry job-failed)$/m;
      const [, command = ''] = again.exec(stdout) ?? [];
      expect(command).toMatch(/^run finer\.jsonl --out grind\.out /);
      const status = await millrace(['status', 'grind.out'], options());
      expect(again.exec(status.stdout)?.[1]).toBe(command);
      expect((await run('grind.jsonl', '--retry', 'job-failed')).stderr).toContain(
        `run the manifest that has the others (${join(work.folder, 'finer.jsonl')}).`,
      );
      expect((await millrace(command.split(' '), options())).stderr).toContain('2 rows to send');
    });

    it('comes from the configuration where the run has none, and is not remembered', async () => {
      await serve();
      await jobs('grind', 3);
      await work.write('millrace.config.json', ['{"max_cost": 0.01}']);
      const first = await run('grind.jsonl');
      expect(first.code).toBe(3);
      expect(first.stderr).toContain('$0.01, of the configuration: 1 of 3 rows fit');
      await work.write('millrace.config.json', ['{}']);
      expect((await run('grind.jsonl')).code).toBe(0);
    });

    it('does not hold in the run of its failures, and that is said with the command that goes on', async () => {
      await serve();
      await jobs('grind', 1);
      await run('grind.jsonl', '--max-cost', '5', '--limit', '1');
      await work.write('grind.out/failures.jsonl', ['{"id": "a", "endpoint": "grind", "input": {}}']);
      const { stderr } = await run('grind.out/failures.jsonl');
      expect(stderr).toContain('its cap of $5.00 and what was decided there do not apply here');
      expect(stderr).toMatch(
        /To continue in grind\.out: millrace run grind\.jsonl --out grind\.out --base-url http\S+ --prices \S+prices\.json --max-cost 5 --retry failed/,
      );
    });
  });
});
