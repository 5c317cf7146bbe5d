import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An output folder that is gone after the test. Arrays become JSONL, texts stay. */
export async function reportFolder(files: Record<string, string | readonly unknown[]> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-report-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const text =
      typeof content === 'string' ? content : content.map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(join(folder, name), text);
  }
  return folder;
}
