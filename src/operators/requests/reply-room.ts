import { callHook } from '../../policy/guard-hooks.js';

/**
 * Limits the bytes of replies that are read and handled at a time, for all endpoints of a client together: hundreds of jobs may
 * end at once, each with a picture of some megabytes. First come, first served at each endpoint, and each has one poll on the wire
 * whatever the others expect, so that none waits for one that hangs. A reply that is larger than all the room has it alone.
 */
export class ReplyRoom {
  readonly #waiting = new Set<ReplyShare>();
  readonly #onWire = new Set<ReplyShare>();
  /** Of replies that are there. */
  #held = 0;
  #isHandingOut = false;

  constructor(readonly bytes = roomBytes) {}

  /** Calls `go` once there is room for as many bytes as are expected then, synchronously if there is room now. */
  take(expected: () => number, go: () => void): ReplyShare {
    const share = { expected, go, bytes: 0 };
    this.#waiting.add(share);
    this.#handOut();
    return share;
  }

  /** Sets the size of the reply. With 0 its room is given back, or its wait is left. */
  resize(share: ReplyShare, bytes: number): void {
    this.#waiting.delete(share);
    this.#onWire.delete(share);
    this.#held += bytes - share.bytes;
    share.bytes = bytes;
    this.#handOut();
  }

  /** Takes room for a reply that is there already, without a wait. Returns a function that gives it back. */
  hold(bytes: number): () => void {
    const share = { expected: () => bytes, go: () => undefined, bytes: 0 };
    this.resize(share, bytes);
    return () => this.resize(share, 0);
  }

  /** A trampoline, so that requests that end synchronously do not nest. */
  #handOut(): void {
    if (this.#isHandingOut) return;
    this.#isHandingOut = true;
    const full = new Set<ReplyShare['expected']>();
    for (const share of this.#waiting) {
      if (full.has(share.expected)) continue;
      if (!this.#fits(share)) {
        full.add(share.expected);
        continue;
      }
      this.#waiting.delete(share);
      this.#onWire.add(share);
      callHook(share.go);
    }
    this.#isHandingOut = false;
  }

  #fits(next: ReplyShare): boolean {
    if (this.#held === 0 && this.#onWire.size === 0) return true;
    let bytes = this.#held + next.expected();
    let isFirst = true;
    for (const { expected } of this.#onWire) {
      bytes += expected();
      if (expected === next.expected) isFirst = false;
    }
    return bytes <= this.bytes || (isFirst && this.#held < this.bytes);
  }
}

/** The room of one reply, or the wait for it. */
export interface ReplyShare {
  /** The same function for all polls of an endpoint. */
  readonly expected: () => number;
  readonly go: () => void;
  /** 0 until it is known. */
  bytes: number;
}

/** A reply is held several times over: as text, as a value, and as lines for files. */
const roomBytes = 32 * 1024 * 1024;

/** What the polls of one endpoint are expected to bring: as much as the largest result of late. */
export class ReplySizes {
  #expected: number;
  /** A result has been read, or another large reply. */
  #isKnown = false;

  /** The bytes that a reply is expected to have. */
  readonly expected = () => this.#expected;

  constructor(readonly room: ReplyRoom) {
    this.#expected = room.bytes / firstPolls;
  }

  /** Only results show that results are small, because many jobs may end at once after many short answers. */
  read(bytes: number, isResult: boolean): void {
    const expected = this.#expected;
    this.#isKnown ||= isResult || bytes > expected;
    const most = isResult ? mostBrief : this.#isKnown ? pollsOfRunning : pollsBeforeResults;
    const least = Math.max(expected * shrink, this.room.bytes / most);
    this.#expected = Math.max(bytes, Math.min(expected, least));
  }
}

/** After fifteen small results, as many polls are on the wire as there may be. */
const shrink = 0.75;

/** More than a process needs at a time of requests that are answered at once. */
export const mostBrief = 256;
/** How many polls of an endpoint are on the wire until its first answers. */
const firstPolls = 4;
/** How many there are until its first result, if all jobs still run. */
const pollsBeforeResults = 16;
/** How many there are again after large results, if all jobs still run: thousands of them would be asked about too rarely. */
const pollsOfRunning = 8;
