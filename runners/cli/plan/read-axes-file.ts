import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { readAxes } from '../../batch/planning.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { UsageError } from '../io/usage-error.js';
import type { RunOptions } from '../options/start-options.js';

/** The options with the axes of `--axes FILE` behind those of `--each`. Throws `UsageError` where the file cannot be read or used. */
export async function withAxesFile<O extends Pick<RunOptions, 'axes' | 'each'>>(
  options: O,
  cwd: string,
): Promise<O> {
  const { axes: file, each } = options;
  if (file === undefined) return options;
  try {
    const axes = await readAxes(createReadStream(resolve(cwd, file)), file);
    const twice = Object.keys(axes).find((name) => Object.hasOwn(each, name));
    if (twice !== undefined)
      throw new UsageError([`--axes: ${file} has the axis "${twice}", and --each ${twice}=… gives it too`]);
    return { ...options, each: { ...each, ...axes } };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (isMillraceError(error)) throw new UsageError([`--axes: ${error.message}`]);
    throw error;
  }
}
