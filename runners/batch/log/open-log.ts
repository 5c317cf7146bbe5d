import { redact } from '../../../src/contract/redact.js';
import type { Disk } from '../disk/disk.js';
import { openAppendFile, type AppendFile } from '../disk/append-file.js';

/** run.log: JSON lines for diagnosis, with the row's id on every line that is about a row. */
export interface RunLog {
  write(level: LogLevel, facts: Readonly<Record<string, unknown>>, message: string): void;
  /** Waits until pending lines are written. */
  close(): Promise<void>;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface LogOptions {
  readonly disk: Disk;
  readonly folder: string;
  /** In ms since the epoch. */
  readonly now: () => number;
  /** Texts that are masked wherever they would appear. */
  readonly secrets: readonly string[];
  /** @defaultValue info */
  readonly level?: LogLevel;
}

/** Appends to run.log. If the disk fails, the log ends but the run goes on: the journal reports disk errors. */
export async function openLog({ disk, folder, now, secrets, level = 'info' }: LogOptions): Promise<RunLog> {
  const { pino } = await import('pino');
  const sink = new LogSink(await openAppendFile(disk, `${folder}/run.log`).catch(() => undefined), secrets);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    sink,
  );
  return {
    write: (at, facts, message) => logger[at](facts, message),
    close: () => sink.close(),
  };
}

class LogSink {
  private waiting: string[] = [];
  private running: Promise<void> | undefined;

  constructor(
    private file: AppendFile | undefined,
    private readonly secrets: readonly string[],
  ) {}

  write(line: string): void {
    if (this.file === undefined) return;
    this.waiting.push(redact(line, this.secrets));
    this.running ??= Promise.resolve().then(() => this.drain());
  }

  async close(): Promise<void> {
    await this.running;
    await this.giveUp();
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      const text = this.waiting.splice(0).join('');
      await this.file?.append(Buffer.from(text)).catch(() => this.giveUp());
    }
    this.running = undefined;
  }

  private async giveUp(): Promise<void> {
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
  }
}
