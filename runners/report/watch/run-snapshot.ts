import { createHash, randomBytes } from 'node:crypto';
import type { Disk } from '../../batch/disk/disk.js';
import { pageDataOf } from '../page-data-of.js';
import type { PageData } from '../page-data.js';
import { manifestFoldersOf, relativeUrl, RunPictures } from '../rows/run-pictures.js';
import { viewReport, type ReportView } from '../report-view.js';
import { PageRowReader } from '../rows/page-rows.js';
import { rowsPerFileOf, scriptOf } from '../rows/row-files.js';
import { surveyRun, type Survey } from '../survey/survey-run.js';
import { withRowsToGo } from '../survey/rows-to-go.js';

const latestKept = 960;

/** The state of a run at one moment. Its rows are read when they are requested. */
export class RunSnapshot {
  readonly version: string;
  readonly view: ReportView;
  readonly data: PageData;
  /** Files outside the output folder that rows name as references, by the name under which they are served. */
  readonly references = new Map<string, string>();
  readonly survey: Survey;
  readonly #disk: Disk;
  readonly #perFile: number;

  private constructor(disk: Disk, survey: Survey, isRunning: boolean) {
    this.#disk = disk;
    this.survey = survey;
    this.version = randomBytes(6).toString('hex');
    this.view = viewReport(survey, [], isRunning);
    this.#perFile = rowsPerFileOf(survey.rows.places.length);
    const { version } = this;
    const source = { kind: 'files', folder: 'report', version, rowsPerFile: this.#perFile } as const;
    this.data = pageDataOf(survey, source, survey.rows.places.latest(latestKept));
  }

  /**
   * @param isRunning whether a process works on the run
   * @param rows number of rows of the plan, if that process has reported it, because summary.json may be older
   */
  static async take(disk: Disk, folder: string, isRunning = false, rows?: number): Promise<RunSnapshot> {
    const found = await surveyRun(disk, folder);
    const survey = isRunning ? found : await withRowsToGo(disk, found);
    const toDo =
      rows === undefined ? survey.toDo : Math.max(0, rows - survey.rows.places.length + survey.rows.toGo);
    return new RunSnapshot(disk, { ...survey, toDo }, isRunning);
  }

  /** The script that passes one part of the rows to the page. */
  async script(file: number): Promise<string> {
    const reader = await PageRowReader.open(this.#disk, this.survey, await this.#shelf());
    try {
      const rows = await reader.read(file * this.#perFile, (file + 1) * this.#perFile);
      return scriptOf(this.version, file, rows);
    } finally {
      await reader.close();
    }
  }

  #shelf(): Promise<RunPictures> {
    const { folder } = this.survey;
    const addressOf = (path: string): string => this.#addressOf(path, folder);
    return RunPictures.open({
      disk: this.#disk,
      folder,
      manifestFolders: manifestFoldersOf(this.survey),
      mayMake: 0,
      addressOf,
    });
  }

  #addressOf(path: string, folder: string): string {
    const way = relativeUrl(folder, path);
    if (way?.startsWith('..') === false) return way;
    const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
    this.references.set(name, path);
    return `references/${name}`;
  }
}
