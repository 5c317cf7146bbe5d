import { describe, expect, it } from 'vitest';
import { repeatedOptions } from '../../../../runners/cli/start/batch-options.js';

const none = new Map<string, string>();

describe('repeatedOptions', () => {
  it('keeps what a later start needs, the options about the manifest apart', () => {
    const raw = {
      set: ['resolution=2k', 'prompt=it is dusk'],
      map: ['images=Bild'],
      delimiter: ';',
      kind: 'edit',
      endpoint: 'photo',
      skipInvalid: true,
      download: false,
      rate: 5,
      imagesBase: 'https://pics.test/',
    };
    expect(repeatedOptions(raw, none, '/work')).toEqual({
      manifest: [
        ...[
          '--endpoint',
          'photo',
          '--delimiter',
          ';',
          '--set',
          'resolution=2k',
          '--set',
          'prompt=it is dusk',
          '--map',
          'images=Bild',
        ],
        '--skip-invalid',
      ],
      others: [...['--images-base', 'https://pics.test/', '--kind', 'edit', '--rate', '5'], '--no-download'],
    });
  });

  it('leaves out the choices of one start, and what the run itself knows', () => {
    const raw = {
      limit: '5',
      only: ['a'],
      retry: ['failed'],
      changed: 'redo',
      onUnknown: 'retry',
      yes: true,
      repair: true,
      add: true,
      quiet: true,
      json: true,
      metricsFile: 'run.prom',
      maxCost: '5',
      out: 'out',
      local: true,
      baseUrl: 'https://api.test',
      lbBaseUrl: 'https://lb.test',
      download: true,
    };
    expect(repeatedOptions(raw, none, '/work')).toEqual({ manifest: [], others: [] });
  });

  it('leaves out what a configuration file says, which is found there again', () => {
    const from = new Map([['endpoint', '/work/millrace.config.json']]);
    expect(repeatedOptions({ endpoint: 'photo', timeout: '2h' }, from, '/work').others).toEqual([
      '--timeout',
      '2h',
    ]);
  });

  it('names files by their absolute paths, and no password', () => {
    const raw = {
      prices: 'prices.json',
      functions: '../f.mjs',
      apiKeyFile: '/run/secrets/key',
      db: 'postgres://me:canary-pass@db.test/runs?password=canary-too&sslmode=require',
    };
    const { others } = repeatedOptions(raw, none, '/work');
    expect(others).toEqual(expect.arrayContaining(['/work/prices.json', '/f.mjs', '/run/secrets/key']));
    expect(others).toContain('postgres://me@db.test/runs?sslmode=require');
    expect(JSON.stringify(others)).not.toContain('canary');
  });
});
