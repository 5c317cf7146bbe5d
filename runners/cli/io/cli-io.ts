import type { Command } from 'commander';
import type { Readable } from 'node:stream';
import type { SchedulerLike } from 'rxjs';
import type { PageParts } from '../../report/render-page.js';

/** The signals that stop a run gracefully. A terminal that closes sends SIGHUP; Node receives it even under `nohup`. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The parts of the process that commands use, which tests replace. */
export interface CliIo {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutStream;
  readonly stderr: OutStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The base of relative paths on the command line. */
  readonly cwd: string;
  /** The clock of the display and of the run. @defaultValue asyncScheduler, loaded when needed */
  readonly scheduler?: SchedulerLike;
  /** Prints help or version without opening `stdout`. @defaultValue prints to `stdout`, as wide as its terminal */
  readonly printPage?: (text: string) => void;
  /** The parts of the report's page. @defaultValue those that came with the package */
  readonly pageParts?: () => Promise<PageParts>;
  /** Called once before many rows are processed, so that the program can grow its heap. */
  readonly beforeRows?: () => void;
  /**
   * Listens for SIGINT, SIGTERM and SIGHUP, which then no longer end the process. Several listeners are called with the same signals,
   * each once, however often it is passed on. Returns the function that stops listening.
   */
  onStop(listener: (signal: StopSignal) => void): () => void;
  /** Passes uncaught errors to `explain`; the process then ends with the exit code that `explain` resolves to. */
  onFault(explain: (error: unknown) => Promise<number>): void;
}

/** Options as given, by their names in the code. Their values are not checked yet. */
export type RawOptions = Readonly<Record<string, unknown>>;

/** What a command is called with: its operands in the order of the help, its options as given, and the process. */
export interface CommandCall<Args extends readonly unknown[] = readonly []> {
  readonly args: Args;
  readonly raw: RawOptions;
  readonly io: CliIo;
  readonly fault: FaultContext;
  readonly program: Command;
}

/** For a command that fails: where to log the details, and what must not appear in them. */
export interface FaultContext {
  /** The run's folder once it is known to exist. */
  folder?: string;
  /** Masked in everything that is printed or logged. */
  readonly secrets: string[];
}

/** A stream for text: a terminal, a file or a pipe. */
export interface OutStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): boolean;
  on(event: OutEvent, listener: () => void): unknown;
  off(event: OutEvent, listener: () => void): unknown;
}

type OutEvent = 'resize' | 'drain' | 'close' | 'error';
