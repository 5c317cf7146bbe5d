import { describe, expect, it } from 'vitest';
import {
  parseCertainFaults,
  parseFaults,
  drawFaults,
} from '../../../../runners/emulator/faults/parse-faults.js';
import { operations } from '../../../../runners/emulator/faults/fault.js';
import { seededRandom } from '../../../../runners/emulator/create-service.js';

const example =
  '429=0.1:2,500=0.05,reset-before=0.01,reset-after@run=0.01,cut=0.05,malformed=0.05,html=0.05,hang=0.001,early-runsync=0.1,price=0.05:1.2,expire=0.01,picture-500=0.1';

describe('parseFaults', () => {
  it('reads the documented example', () => {
    const rules = parseFaults(example);
    expect(
      rules.map(({ fault, probability }) => [fault.name, fault.phase, fault.value, probability]),
    ).toEqual([
      ['429', 'before', '2', 0.1],
      ['500', 'before', undefined, 0.05],
      ['reset', 'before', undefined, 0.01],
      ['reset', 'after', undefined, 0.01],
      ['cut', 'after', undefined, 0.05],
      ['malformed', 'after', undefined, 0.05],
      ['html', 'after', undefined, 0.05],
      ['hang', 'before', undefined, 0.001],
      ['early-runsync', 'job', undefined, 0.1],
      ['price', 'job', '1.2', 0.05],
      ['expire', 'job', undefined, 0.01],
      ['500', 'before', undefined, 0.1],
    ]);
    expect([...rules[3]!.on]).toEqual(['run']);
    expect([...rules[11]!.on]).toEqual(['picture']);
  });

  it('strikes everywhere but at pictures unless told otherwise', () => {
    const [rule] = parseFaults('cut=0.5');
    expect([...rule!.on]).toEqual(operations.filter((each) => each !== 'picture'));
  });

  it('takes several operations, spaces and nothing at all', () => {
    expect([...parseFaults(' cut@status+runsync=0.5 , 500-after=1 ')[0]!.on]).toEqual(['status', 'runsync']);
    expect(parseFaults('500-after=1')[0]!.fault).toEqual({ name: '500', phase: 'after' });
    expect(parseFaults('')).toEqual([]);
  });

  it('keeps whatever stands behind the colon of a code', () => {
    expect(parseFaults('429=1:date+30')[0]!.fault.value).toBe('date+30');
    expect(parseFaults('redirect=1:http://127.0.0.1:9/x')[0]!.fault.value).toBe('http://127.0.0.1:9/x');
  });

  it.each([
    ['lightning=0.1', /"lightning=0.1" has an unknown fault "lightning"; there are .*reset-before/],
    ['toString=0.1', /has an unknown fault/],
    ['299=0.1', /has an unknown fault "299"/],
    ['cut', /needs a probability from 0 to 1/],
    ['cut=', /needs a probability/],
    ['cut=1.5', /needs a probability/],
    ['cut=-0.1', /needs a probability/],
    ['cut=x', /needs a probability/],
    ['cut@lunch=0.1', /names no operation "lunch"; there are run, /],
    ['price@status=0.1:2', /happens only on run, runsync/],
    ['early-runsync@run=0.1', /happens only on runsync/],
    ['picture-cut@run=0.1', /names its operation twice/],
    ['price=0.1', /needs a factor behind a colon/],
    ['price=0.1:cheap', /needs a factor/],
    ['slow=0.1', /needs a time behind a colon/],
    ['cut=0.1:2', /takes nothing behind a colon/],
    ['redirect=0.1:elsewhere', /needs a URL/],
  ])('refuses %s', (text, message) => {
    expect(() => parseFaults(text)).toThrow(message);
  });
});

describe('parseCertainFaults', () => {
  it('reads faults without probabilities', () => {
    expect(parseCertainFaults('429:2,price:1.5')).toEqual([
      { name: '429', phase: 'before', value: '2' },
      { name: 'price', phase: 'job', value: '1.5' },
    ]);
    expect(parseCertainFaults('')).toEqual([]);
    expect(() => parseCertainFaults('nonsense')).toThrow(/has an unknown fault/);
  });
});

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
