import { imageUrlLifetimeMs } from '../../../src/contract/limits.js';
import type { Journal } from '../journal/journal.js';
import type { Projections } from '../sinks/projections.js';
import { isoTime } from '../sinks/line-text.js';

const hourMs = 3_600_000;
/** The run warns when a picture's URL expires within this time. */
const warnBeforeMs = 48 * hourMs;
/** At most this many are counted. */
const most = 100_000;

/** Paid pictures of earlier starts that are not in the folder and whose URLs expire soon: a URL is valid for 7 days (spec 8). */
export class ExpiringPictures {
  private readonly ends = new Map<string, number>();

  constructor(private readonly now: number) {}

  /** @param end when its URL expires, in ms since the epoch */
  see(id: string, end: number): void {
    if (end - this.now <= warnBeforeMs && this.ends.size < most) this.ends.set(id, end);
  }

  saved(id: string): void {
    this.ends.delete(id);
  }

  /** A warning for the user; `undefined` if there is nothing to warn about. */
  warning(now: number): string | undefined {
    const ends = [...this.ends.values()];
    const living = ends.filter((end) => end > now);
    const dead = ends.length - living.length;
    if (ends.length === 0) return undefined;
    const first = living.reduce((earliest, end) => Math.min(earliest, end), Infinity);
    const gone =
      dead === 0 ? '' : ` The URLs of ${dead} are older than 7 days, and probably no longer valid.`;
    if (living.length === 0) return `${count(dead)} paid for and not saved.${gone}`;
    const hours = Math.floor((first - now) / hourMs);
    return `${count(living.length)} paid for and not saved yet; the first URL expires at ${isoTime(first)}, in ${hours} h: run again, or fetch with refetch.${gone}`;
  }
}

function count(pictures: number): string {
  return `${pictures} ${pictures === 1 ? 'picture is' : 'pictures are'}`;
}

interface Place {
  readonly journal: Pick<Journal, 'recovered' | 'rowsIn'>;
  readonly projections: Pick<Projections, 'files'>;
  /** Whether this start saves pictures; if so, pictures that were left at their URLs before are not looked up. */
  readonly download: boolean;
  readonly now: number;
}

/** Finds these pictures. If pictures were left at their URLs, this reads all results. */
export async function findExpiring({
  journal,
  projections,
  download,
  now,
}: Place): Promise<ExpiringPictures> {
  const expiring = new ExpiringPictures(now);
  const { rows: states, totals } = journal.recovered;
  const { rows } = totals;
  if ((rows.get('download') ?? 0) + (rows.get('replied') ?? 0) > 0) {
    for await (const { id, reply } of journal.rowsIn(['download', 'replied']))
      if (reply?.imageUrl !== undefined) expiring.see(id, reply.at + imageUrlLifetimeMs);
  }
  if (download) return expiring;
  for await (const { id, path, expiresAt } of projections.files.pictures())
    if (path === undefined && expiresAt !== undefined && states.get(id)?.status === 'completed')
      expiring.see(id, Date.parse(expiresAt));
  return expiring;
}
