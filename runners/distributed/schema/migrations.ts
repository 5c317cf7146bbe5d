import { jobsOfRows } from './jobs-of-rows.js';
import { runsAndRows } from './runs-and-rows.js';

/** One step of the schema. Steps are run once, in order, each in a transaction; what has been released never changes. */
export interface Migration {
  /** From 1, without gaps: the schema's version after it. */
  readonly version: number;
  /** What it brings, for people. */
  readonly name: string;
  readonly sql: string;
}

/** All steps, oldest first. They make the schema `millrace`, which exists when the first of them begins. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'runs and rows', sql: runsAndRows },
  { version: 2, name: 'jobs of rows', sql: jobsOfRows },
];
