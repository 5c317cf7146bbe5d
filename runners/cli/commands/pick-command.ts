import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { nodeDisk, shellWords, someOf } from '../../batch/formats.js';
import { chosenFileName } from '../../report/pick/chosen-list.js';
import {
  pickPictures,
  type Picked,
  type ChosenPictures,
  readChosen,
} from '../../report/pick/pick-pictures.js';
import { readFirstStart } from '../../report/survey/run-story.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { countOf, plainText, shownPath } from '../messages/plain-text.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { downloadsOf, savedFiles } from '../options/find-manifest.js';

interface ChosenList extends ChosenPictures {
  readonly path: string;
}

/**
 * Copies the pictures that were kept in the report's gallery into a folder, by the list that the gallery saves. Sends nothing,
 * and overwrites only its own files. Exit 0 if every picture of the list is in the folder, else 1.
 */
export async function pickCommand({
  args: [name, list],
  raw,
  io,
}: CommandCall<[string, string?]>): Promise<number> {
  const { to, json } = commandOptions('pick', raw);
  const folder = await runFolder(name, io);
  const chosen = list === undefined ? await findList(folder, io) : await namedList(folder, list, io);
  const target = to === undefined ? join(folder, 'chosen') : resolve(io.cwd, to);
  if ((await stat(target).catch(() => undefined))?.isDirectory() === false)
    throw new UsageError([`--to: "${to ?? target}" is a file: name a folder`]);
  const picked = await pickPictures(nodeDisk, folder, chosen, target);
  printProblems(chosen, picked, folder, io);
  if (json) io.stdout.write(`${JSON.stringify(pickedJson(chosen, picked, target))}\n`);
  else for (const line of describePick(chosen, picked, target, io)) io.stdout.write(`${line}\n`);
  return picked.missing.length + chosen.unknown.length > 0 ? 1 : 0;
}

async function namedList(folder: string, name: string, io: CliIo): Promise<ChosenList> {
  const path = resolve(io.cwd, name);
  if ((await stat(path).catch(() => undefined))?.isFile() !== true)
    throw new UsageError([`"${name}": there is no such file`], howToKeep(folder, io));
  const chosen = await readChosen(nodeDisk, folder, path);
  if (chosen.found.length > 0) return { ...chosen, path };
  const why =
    chosen.unknown.length === 0
      ? 'it has no line with an id'
      : `it names ${countOf(chosen.unknown.length, 'row')}, and none is a result of ${shownPath(folder, io.cwd)}`;
  throw new UsageError([`"${name}" is not a list of this run: ${why}`], howToKeep(folder, io));
}

/** The newest list of this run, in the folders where a browser or a person would put it. */
async function findList(folder: string, io: CliIo): Promise<ChosenList> {
  const manifest = (await readFirstStart(nodeDisk, folder))?.manifest ?? '';
  const name = chosenFileName(basename(manifest === '' ? folder : manifest));
  const places = [...new Set([folder, io.cwd, dirname(folder), ...downloadsOf(io.env)])];
  for (const path of await savedFiles(places, name)) {
    const chosen = await readChosen(nodeDisk, folder, path);
    if (chosen.found.length > 0) return { ...chosen, path };
  }
  throw new UsageError(
    [
      `there is no list of kept pictures: ${name} is not in ${places.map((place) => shownPath(place, io.cwd)).join(', ')}`,
    ],
    howToKeep(folder, io),
  );
}

function howToKeep(folder: string, io: CliIo): string {
  const out = shownPath(folder, io.cwd);
  return `keep pictures in ${join(out, 'report.html')}, choose "Save chosen.csv" there, then: ${shellWords('millrace', 'pick', out)} <chosen.csv>`;
}

function printProblems({ unknown }: ChosenList, { missing }: Picked, folder: string, io: CliIo): void {
  const warn = (text: string): void => void io.stderr.write(`warning: ${text}\n`);
  if (unknown.length > 0)
    warn(
      `${countOf(unknown.length, 'row')} of the list ${unknown.length === 1 ? 'is not a result' : 'are not results'} of this run: ${idsOf(unknown)}`,
    );
  if (missing.length > 0)
    warn(
      `${countOf(missing.length, 'picture')} of the list ${missing.length === 1 ? 'is' : 'are'} not on this disk: ${idsOf(missing)}; download: ${shellWords('millrace', 'refetch', shownPath(folder, io.cwd))}`,
    );
}

const idsShown = 10;

function idsOf(ids: readonly string[]): string {
  const shown = ids.slice(0, idsShown).map((id) => plainText(id, 80));
  return someOf(shown, ids.length);
}

function describePick({ path }: ChosenList, picked: Picked, target: string, io: CliIo): string[] {
  const { copied, present, list, others } = picked;
  const there =
    present.length === 0 ? '' : `, ${present.length} ${present.length === 1 ? 'was' : 'were'} there already`;
  return [
    `${countOf(copied.length, 'picture')} copied to ${shownPath(target, io.cwd)}${there}; the list beside them: ${plainText(list)}`,
    `from the list ${shownPath(path, io.cwd)}`,
    ...(others === 0
      ? []
      : [`${countOf(others, 'other file')} in that folder ${others === 1 ? 'is' : 'are'} not in this list`]),
  ];
}

function pickedJson(chosen: ChosenList, picked: Picked, target: string): Record<string, unknown> {
  const { copied, present, missing, list, others } = picked;
  return { from: chosen.path, to: target, list, copied, present, missing, unknown: chosen.unknown, others };
}
