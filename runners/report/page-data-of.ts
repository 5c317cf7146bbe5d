import { basename, dirname, isAbsolute } from 'node:path';
import { numberRuns, type PageData, type RowClass, type RowSource } from './page-data.js';
import type { RowSurvey } from './survey/survey-rows.js';
import { messageOf } from './messages/what-to-do.js';
import { optionsToRedo } from './messages/run-again.js';
import type { Survey } from './survey/survey-run.js';

/** The data about the run that the page's script needs. */
export function pageDataOf(survey: Survey, source: RowSource, latest?: readonly number[]): PageData {
  const { rows, key, name, folder, prices, manifest, story } = survey;
  const last = story.starts.at(-1);
  return {
    run: {
      key,
      name,
      folder,
      options: last === undefined ? [] : optionsToRedo(last),
      manifestFolder: manifestFolderOf(survey),
      isRehearsal: survey.isRehearsal,
      manifestFormat: /\.csv(\.gz)?$/i.test(manifest) ? 'csv' : 'jsonl',
      axes: [...new Set(story.starts.flatMap(({ axes }) => axes))],
      hasPictures: rows.pictures > 0,
    },
    prices,
    classes: classesOf(survey),
    rows: classDigits(rows),
    numbers: numberRuns(rows.places.numbers()),
    source,
    ...(latest !== undefined && { latest }),
  };
}

/** The folder of the run's first manifest; a later one may contain rejected rows and be in another folder. */
function manifestFolderOf({ folder, story }: Survey): string {
  const path = story.starts[0]?.manifest ?? '';
  const isFile = isAbsolute(path) && dirname(path) !== folder;
  return isFile ? path.slice(0, path.length - basename(path).length) : '';
}

/** Classes of rows with a result; those of the failures follow. */
const withResult = [
  { label: 'Completed' },
  { label: 'Bought again', again: true },
  { label: 'To go', toGo: true },
  { label: 'To go', again: true, toGo: true },
] as const;

function classesOf({ rows }: Survey): RowClass[] {
  const counts = withResult.map(() => 0);
  rows.places.eachClass((cause, again, toGo) => {
    const place = classOf(cause, again, toGo);
    if (place < counts.length) counts[place] = (counts[place] ?? 0) + 1;
  });
  return [
    ...withResult.map((one, place) => ({
      status: 'completed' as const,
      ...one,
      count: counts[place] ?? 0,
      cause: 0,
    })),
    ...rows.causes.map((group, index) => ({
      status: group.code,
      label: messageOf(group),
      count: group.count,
      cause: index + 1,
    })),
  ];
}

/** The index of a row's class. */
function classOf(cause: number, again: boolean, toGo: boolean): number {
  return cause === 0 ? Number(again) + 2 * Number(toGo) : withResult.length + cause - 1;
}

/** Two for each row. */
function classDigits({ places, causes }: RowSurvey): string {
  const digits = Array.from({ length: withResult.length + causes.length }, (_, place) =>
    Buffer.from(place.toString(36).padStart(2, '0')),
  );
  const text = Buffer.alloc(2 * places.length);
  let end = 0;
  places.eachClass((cause, again, toGo) => {
    const [first = 0, second = 0] = digits[classOf(cause, again, toGo)] ?? [];
    text[end++] = first;
    text[end++] = second;
  });
  return text.toString('latin1', 0, end);
}
