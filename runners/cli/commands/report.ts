import { writeReport } from '../../report/write-report.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { runFolder } from '../options/run-folder.js';
import { countOf } from '../words/amounts.js';
import { shownPath } from '../words/shown-path.js';

/** Writes report.html of a finished or running run out of its files. */
export async function report(name: string, io: CliIo, fault: FaultContext): Promise<number> {
  fault.folder = await runFolder(name, io);
  const { path, rows } = await writeReport(fault.folder);
  io.stdout.write(`${shownPath(path, io.cwd)}: ${countOf(rows, 'row')}\n`);
  return 0;
}
