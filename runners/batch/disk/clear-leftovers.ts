import type { Disk } from './disk.js';

/** Files of a run that are written beside themselves and then renamed. */
const names =
  /^(\.journal\.snapshot|poll-law\.json|summary\.json|report\.html|(results|failures|earlier)\.(jsonl|csv)|costs\.csv)\.tmp$/;
const parts = /^\.[0-9a-f]{20}\.part$/;
const thumbnails = /\.[0-9a-f]{8}\.webp\.tmp$/;

/** Takes away what a process that died left half written in a run's folder. Only names that millrace gives itself. */
export async function clearLeftovers(disk: Disk, folder: string): Promise<void> {
  const places = [
    ['', names],
    ['/images', parts],
    ['/thumbnails', thumbnails],
  ] as const;
  for (const [place, ours] of places) {
    for (const name of await disk.list(`${folder}${place}`)) {
      // What cannot be removed is in nobody's way.
      if (ours.test(name)) await disk.unlink(`${folder}${place}/${name}`).catch(() => undefined);
    }
  }
}
