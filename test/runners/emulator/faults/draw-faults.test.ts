import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../runners/emulator/create-service.js';
import { drawFaults } from '../../../../runners/emulator/faults/draw-faults.js';
import { parseFaults } from '../../../../runners/emulator/faults/parse-faults.js';

describe('drawFaults', () => {
  it('draws each rule as often as it says, where it applies', () => {
    const draw = drawFaults({ rules: parseFaults('cut@status=0.2'), random: seededRandom(1) });
    const struck = (operation: 'status' | 'run') =>
      Array.from({ length: 2_000 }, () => draw({ operation })).filter(({ reply }) => reply).length;
    expect(struck('status') / 2_000).toBeCloseTo(0.2, 1);
    expect(struck('run')).toBe(0);
  });

  it('lets the first rule that strikes have the answer, and any number the job', () => {
    const rules = parseFaults('500=1,cut=1,price=1:2,expire=1');
    const drawn = drawFaults({ rules, random: () => 0 })({ operation: 'run' });
    expect(drawn.reply?.name).toBe('500');
    expect(drawn.job.map(({ name }) => name)).toEqual(['price', 'expire']);
  });

  it('asks faultOf first; an empty text is no fault, undefined leaves it to the rules', () => {
    const rules = parseFaults('500=1');
    const seen: unknown[] = [];
    const draw = drawFaults({
      rules,
      random: () => 0,
      faultOf: (request) => {
        seen.push(request);
        return { run: 'cut', status: '' }[request.operation as string];
      },
    });
    expect(draw({ operation: 'run', endpoint: 'echo' }).reply?.name).toBe('cut');
    expect(draw({ operation: 'status', jobId: 'x' })).toEqual({ job: [] });
    expect(draw({ operation: 'health' }).reply?.name).toBe('500');
    expect(seen).toEqual([
      { operation: 'run', endpoint: 'echo' },
      { operation: 'status', jobId: 'x' },
      { operation: 'health' },
    ]);
  });

  it('draws the same for the same seed', () => {
    const names = () => {
      const draw = drawFaults({ rules: parseFaults('cut=0.3,500=0.3'), random: seededRandom(9) });
      return Array.from({ length: 50 }, () => draw({ operation: 'status' }).reply?.name);
    };
    expect(names()).toEqual(names());
    expect(new Set(names())).toEqual(new Set(['cut', '500', undefined]));
  });
});
