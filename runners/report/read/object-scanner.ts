import type { IsoTimes } from './iso-time.js';
import { isSame, JsonWalk } from './json-walk.js';
import { isDigit, plainNumber, Texts } from './values-in-bytes.js';

/** A key that is looked for. */
interface Wanted {
  readonly name: Buffer;
  /** Its place among the paths; -1: only keys below it are looked for. */
  place: number;
  readonly below: Level;
  /** The scan in which it was found last. */
  foundIn: number;
}

/** Keys of one object, by the length of their names: most keys are refused by that. */
type Level = Wanted[][];

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const minus = 0x2d;

/**
 * Finds the values of some keys in the bytes of a JSON object, and makes no object and no string: it takes half of the time of
 * `JSON.parse`. It takes and refuses what `JSON.parse` takes and refuses. One scanner is used for millions of lines.
 */
export class ObjectScanner extends JsonWalk {
  private readonly root: Level = [];
  private readonly starts: Int32Array;
  private readonly ends: Int32Array;
  private readonly texts = new Texts();
  private start = 0;
  private scans = 0;

  /** @param paths Keys from the outermost object down; a value is asked for by its path's place. */
  constructor(paths: readonly (readonly string[])[]) {
    super();
    for (const [place, path] of paths.entries()) this.want(path, place);
    this.starts = new Int32Array(paths.length);
    this.ends = new Int32Array(paths.length);
  }

  /** Reads `bytes[start, end)`. False: it is not one JSON object. Of a key that comes twice the last value counts. */
  scan(bytes: Buffer, start: number, end: number): boolean {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.scans++;
    this.ends.fill(0);
    const at = this.space(start);
    if (bytes[at] !== openBrace) return false;
    const behind = this.object(at, this.root);
    return behind >= 0 && this.space(behind) === end;
  }

  has(place: number): boolean {
    return this.ends[place] !== 0;
  }

  isObject(place: number): boolean {
    return this.has(place) && this.bytes[this.starts[place] ?? 0] === openBrace;
  }

  /** The value as it stands; the empty text where there is none. */
  raw(place: number): string {
    return this.has(place) ? this.bytes.toString('utf8', this.starts[place], this.ends[place]) : '';
  }

  /** Where the value stands, from the front of what was scanned. A length of 0: there is none. */
  extentOf(place: number): { readonly at: number; readonly length: number } {
    const [start = 0, end = 0] = [this.starts[place], this.ends[place]];
    return end === 0 ? { at: 0, length: 0 } : { at: start - this.start, length: end - start };
  }

  /** `undefined` where the value is no text. */
  text(place: number): string | undefined {
    const [start = 0, end = 0] = [this.starts[place], this.ends[place]];
    if (end === 0 || this.bytes[start] !== quote) return undefined;
    const text = this.texts.of(this.bytes, start + 1, end - 1);
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
  }

  /** `undefined` where the value is no finite number. */
  number(place: number): number | undefined {
    const [start = 0, end = 0] = [this.starts[place], this.ends[place]];
    const first = this.bytes[start] ?? 0;
    if (end === 0 || !(first === minus || isDigit(first))) return undefined;
    const plain = plainNumber(this.bytes, start, end);
    if (!Number.isNaN(plain)) return plain;
    const value = Number(this.bytes.toString('latin1', start, end));
    return Number.isFinite(value) ? value : undefined;
  }

  /** In ms since the epoch; NaN where it is no time. */
  time(place: number, times: IsoTimes): number {
    const [start = 0, end = 0] = [this.starts[place], this.ends[place]];
    const plain = times.plain(this.bytes, start + 1, end - 1);
    return Number.isNaN(plain) ? Date.parse(this.text(place) ?? '') : plain;
  }

  private want(path: readonly string[], place: number): void {
    let level = this.root;
    let key: Wanted | undefined;
    for (const part of path) {
      const name = Buffer.from(part);
      while (level.length <= name.length) level.push([]);
      const keys = level[name.length] ?? [];
      key = keys.find((one) => one.name.equals(name));
      if (key === undefined) keys.push((key = { name, place: -1, below: [], foundIn: 0 }));
      level = key.below;
    }
    if (key !== undefined) key.place = place;
  }

  /** Behind the object that opens at `at`, some of whose keys are wanted; -1: it is wrong. */
  private object(at: number, level: Level): number {
    const { bytes } = this;
    let next = this.space(at + 1);
    if (bytes[next] === closeBrace) return next + 1;
    for (;;) {
      if (bytes[next] !== quote) return -1;
      const nameEnd = this.string(next);
      if (nameEnd < 0) return -1;
      const key = this.keyAt(level, next + 1, nameEnd - 1);
      next = this.space(nameEnd);
      if (bytes[next] !== colon) return -1;
      next = this.space(next + 1);
      next = key === undefined ? this.value(next) : this.wantedValue(next, key);
      if (next < 0) return -1;
      next = this.space(next);
      if (bytes[next] === closeBrace) return next + 1;
      if (bytes[next] !== comma) return -1;
      next = this.space(next + 1);
    }
  }

  private wantedValue(at: number, key: Wanted): number {
    const { place, below } = key;
    if (key.foundIn === this.scans) this.forget(below);
    key.foundIn = this.scans;
    const isWalked = below.length > 0 && this.bytes[at] === openBrace;
    const end = isWalked ? this.object(at, below) : this.value(at);
    if (end >= 0 && place >= 0) {
      this.starts[place] = at;
      this.ends[place] = end;
    }
    return end;
  }

  /** What stands below a key that comes again is no longer that of the first. */
  private forget(level: Level): void {
    for (const keys of level)
      for (const { place, below } of keys) {
        if (place >= 0) this.ends[place] = 0;
        this.forget(below);
      }
  }

  private keyAt(level: Level, start: number, end: number): Wanted | undefined {
    if (this.isEscaped) {
      const name = JSON.parse(this.bytes.toString('utf8', start - 1, end + 1)) as string;
      return level.flat().find((key) => key.name.toString() === name);
    }
    const keys = end - start < level.length ? level[end - start] : undefined;
    if (keys === undefined) return undefined;
    for (const key of keys) if (isSame(this.bytes, start, end, key.name)) return key;
    return undefined;
  }
}
