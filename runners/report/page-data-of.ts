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

function classesOf({ rows }: Survey): RowClass[] {
  let again = 0;
  rows.places.eachClass((cause, isAgain) => {
    if (cause === 0 && isAgain) again++;
  });
  return [
    { status: 'completed', label: 'Completed', count: rows.completed + rows.toGo - again, cause: 0 },
    { status: 'completed', label: 'Bought again', count: again, cause: 0, again: true },
    ...rows.causes.map((group, index) => ({
      status: group.code,
      label: messageOf(group),
      count: group.count,
      cause: index + 1,
    })),
  ];
}

/** Two for each row. */
function classDigits({ places, causes }: RowSurvey): string {
  const digits = Array.from({ length: causes.length + 2 }, (_, place) =>
    Buffer.from(place.toString(36).padStart(2, '0')),
  );
  const text = Buffer.alloc(2 * places.length);
  let end = 0;
  places.eachClass((cause, again) => {
    const [first = 0, second = 0] = digits[cause === 0 ? Number(again) : cause + 1] ?? [];
    text[end++] = first;
    text[end++] = second;
  });
  return text.toString('latin1', 0, end);
}
