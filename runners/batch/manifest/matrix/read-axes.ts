import { ManifestError } from '../manifest-error.js';
import { quoteValue } from '../quote-value.js';
import { readRawRecords } from '../read-manifest.js';

const columns = ['axis', 'value'];
/** The limit of values, because all are kept in memory. */
const mostValues = 1_000_000;

/**
 * The axes from a CSV with the columns `axis` and `value`, one value per line. A line is not a combination: each axis
 * multiplies the others.
 *
 * @param name the file's name in messages
 * @throws {ManifestError}
 */
export async function readAxes(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
): Promise<Record<string, readonly string[]>> {
  const axes = new Map<string, Set<string>>();
  let count = 0;
  for await (const batch of readRawRecords(bytes, { name, format: 'csv', gzip: false }))
    for (const { line, names, values, problem } of batch) {
      if (names.length !== 2 || columns.some((column) => !names.includes(column)))
        throw new ManifestError(
          name,
          `has the columns ${names.slice(0, 10).map(quoteValue).join(', ')}; a file of axes has axis and value: a line is one value of an axis, such as style,oil`,
        );
      if (problem !== undefined) throw new ManifestError(name, problem.message, { line });
      if (++count > mostValues) throw new ManifestError(name, `has more than ${mostValues} values`);
      const [axis, value] = columns.map((column) => String(values[names.indexOf(column)]));
      if (axis === undefined || axis.trim() === '' || value === undefined || value.trim() === '')
        throw new ManifestError(name, 'has an empty axis or value', { line });
      const known = axes.get(axis.trim()) ?? new Set();
      if (known.has(value))
        throw new ManifestError(
          name,
          `${axis.trim()} has ${quoteValue(value)} a second time: each row would be bought again`,
          { line },
        );
      axes.set(axis.trim(), known.add(value));
    }
  if (axes.size === 0) throw new ManifestError(name, 'holds no value of an axis');
  return Object.fromEntries([...axes].map(([axis, values]) => [axis, [...values]]));
}
