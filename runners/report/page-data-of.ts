import type { PageData, RowClass, RowSource } from './page-data.js';
import type { Survey } from './survey/survey-run.js';
import { numberRuns } from './words/number-runs.js';

/** What the page's script needs to know of the run. */
export function pageDataOf(survey: Survey, source: RowSource, latest?: readonly number[]): PageData {
  const { rows, key, name, folder, prices, manifest } = survey;
  return {
    run: {
      key,
      name,
      folder,
      options: optionsOf(survey),
      manifestFormat: /\.csv(\.gz)?$/i.test(manifest) ? 'csv' : 'jsonl',
    },
    prices,
    classes: classesOf(survey),
    rows: rows.places.map(({ cause, again }) => digits(cause === 0 ? (again ? 1 : 0) : cause + 1)).join(''),
    numbers: numberRuns(rows.places.map(({ row }) => row)),
    source,
    ...(latest !== undefined && { latest }),
  };
}

/** What a later start needs to be the same run. */
function optionsOf({ story }: Survey): string[] {
  const last = story.starts.at(-1);
  if (last === undefined) return [];
  return last.local ? ['--local'] : last.baseUrl === '' ? [] : ['--base-url', last.baseUrl];
}

function classesOf({ rows }: Survey): RowClass[] {
  const again = rows.places.filter((place) => place.cause === 0 && place.again).length;
  return [
    { status: 'completed', label: 'Completed', count: rows.completed - again, cause: 0 },
    { status: 'completed', label: 'Bought again', count: again, cause: 0, again: true },
    ...rows.causes.map(({ code, message, count }, index) => ({
      status: code,
      label: message,
      count,
      cause: index + 1,
    })),
  ];
}

function digits(place: number): string {
  return place.toString(36).padStart(2, '0');
}
