// The functions that jobs.jsonl and routes.jsonl call: `millrace run samples/jobs.jsonl --local --functions samples/functions.mjs`.
// `queue` is by endpoint id, `routes` by method and path. What a function returns is the answer, what it throws the error.

export const queue = {
  'word-count': ({ text, top = 3 }) => wordCount(text, top),
  'prime-sieve': ({ below }) => ({
    below,
    count: primesBelow(below).length,
    largest: primesBelow(below).at(-1),
  }),
  'text-diff': ({ before, after }) => ({ distance: distance(before, after), same: before === after }),
  /** The chunks of /stream, one step each; together they are the output. */
  async *'collatz-steps'({ from }, job) {
    for (let n = from; n !== 1; n = n % 2 === 0 ? n / 2 : 3 * n + 1) {
      yield n;
      await job.sleep(5);
    }
    yield 1;
  },
  /** Shows how far it is while it is IN_PROGRESS. */
  async 'pi-digits'({ digits }, job) {
    let found = '';
    for (const digit of piDigits(digits)) {
      found += digit;
      if (found.length % 50 === 0) {
        job.progress({ digits: found.length });
        await job.sleep(10);
      }
    }
    return { digits, pi: `${found[0]}.${found.slice(1)}` };
  },
};

export const routes = {
  'POST /stats': ({ numbers }) => stats(numbers),
  'POST /slug': ({ title }) => ({ slug: slugOf(title) }),
  'GET /roman/:number': (_body, { params }) => ({
    number: Number(params.number),
    roman: roman(Number(params.number)),
  }),
  'GET /primes': (_body, { query }) => ({ primes: primesBelow(Number(query.below ?? 100)) }),
};

function wordCount(text, top) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}'’-]+/gu) ?? [];
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const ranked = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
  return { words: words.length, different: counts.size, top: Object.fromEntries(ranked.slice(0, top)) };
}

function primesBelow(limit) {
  if (!Number.isInteger(limit) || limit < 2 || limit > 10_000_000)
    throw new RangeError('below takes 2 to 10000000');
  const composite = new Uint8Array(limit);
  const primes = [];
  for (let n = 2; n < limit; n += 1) {
    if (composite[n]) continue;
    primes.push(n);
    for (let multiple = n * n; multiple < limit; multiple += n) composite[multiple] = 1;
  }
  return primes;
}

/** Levenshtein: the fewest letters to insert, delete or replace. */
function distance(before, after) {
  let row = Array.from({ length: after.length + 1 }, (_, index) => index);
  for (let i = 1; i <= before.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= after.length; j += 1)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (before[i - 1] === after[j - 1] ? 0 : 1));
    row = next;
  }
  return row.at(-1);
}

/** Machin: pi/4 = 4 atan(1/5) - atan(1/239), in whole numbers. */
function piDigits(count) {
  if (!Number.isInteger(count) || count < 1 || count > 10_000)
    throw new RangeError('digits takes 1 to 10000');
  const unit = 10n ** BigInt(count + 10);
  const atan = (inverse) => {
    let sum = 0n;
    let power = unit / inverse;
    for (let n = 1n; power !== 0n; n += 2n) {
      sum += n % 4n === 1n ? power / n : -power / n;
      power /= inverse * inverse;
    }
    return sum;
  };
  return (4n * (4n * atan(5n) - atan(239n))).toString().slice(0, count);
}

function stats(numbers) {
  if (!Array.isArray(numbers) || numbers.length === 0) {
    throw Object.assign(new Error('numbers is empty'), {
      status: 400,
      detail: 'send {"numbers": [1, 2, 3]}',
    });
  }
  const sorted = [...numbers].sort((a, b) => a - b);
  const mean = sorted.reduce((sum, number) => sum + number, 0) / sorted.length;
  const variance = sorted.reduce((sum, number) => sum + (number - mean) ** 2, 0) / sorted.length;
  const half = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return {
    count: sorted.length,
    mean,
    median,
    deviation: Math.sqrt(variance),
    least: sorted[0],
    most: sorted.at(-1),
  };
}

function slugOf(title) {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

function roman(number) {
  if (!Number.isInteger(number) || number < 1 || number > 3999) {
    throw Object.assign(new Error('no such number'), {
      status: 400,
      detail: 'Roman numerals run from 1 to 3999',
    });
  }
  const letters = {
    M: 1000,
    CM: 900,
    D: 500,
    CD: 400,
    C: 100,
    XC: 90,
    L: 50,
    XL: 40,
    X: 10,
    IX: 9,
    V: 5,
    IV: 4,
    I: 1,
  };
  let rest = number;
  let text = '';
  for (const [letter, value] of Object.entries(letters)) for (; rest >= value; rest -= value) text += letter;
  return text;
}
