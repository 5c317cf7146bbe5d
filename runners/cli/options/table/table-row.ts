import type * as z from 'zod';
import type { OptionValues } from '../option-value.js';

/** The commands that take options. */
export type CommandName = 'plan' | 'run' | 'config' | FolderCommand | 'init' | 'serve' | 'worker';
type FolderCommand = 'status' | 'report' | 'watch' | 'settle' | 'reconcile' | 'refetch' | 'pick';

/** How one command takes an option, where it differs from the others. */
export interface Taken {
  /** What it means to this command. */
  readonly meaning?: string;
  /** The command refuses to start without it. */
  readonly required?: true;
  /** The command takes it, so that a command line of `run` can be pasted, and does not depend on it. */
  readonly unused?: true;
}

/** An option: all that the schema, the help, the completion, the configuration files and saved plans know of it. */
export interface OptionRow {
  /** What it means, without its default. */
  readonly meaning: string;
  /** Which commands take it. */
  readonly commands: { readonly [Name in CommandName]?: true | Taken };
  /** Its value as the help shows it, such as `USD|none`; `D` is a duration. Absent: a switch. */
  readonly takes?: string;
  /** What a value may be. It is made when options are parsed, so that the help loads no schema. */
  readonly value?: (values: OptionValues) => z.ZodType;
  /** It may be repeated. */
  readonly repeats?: true;
  /** The value where none is given, as the command line would give it. */
  readonly fallback?: string | readonly string[];
  /** What happens where none is given, for the help. */
  readonly otherwise?: string;
  /** A switch that is on: the option is `--no-NAME`. */
  readonly isOn?: true;
  /** A configuration file may set it; a path starts where the file is. */
  readonly config?: 'text' | 'path';
  /** The variable of the environment that holds it, over a configuration file. */
  readonly variable?: string;
  /** The variable of the environment that takes its place, over a configuration file. */
  readonly variableInstead?: string;
  /** It names a part of the real service: with `--local` a configuration file does not set it. */
  readonly isOfService?: true;
  /** A choice of one start, or what the run knows without it: a command that goes on with the run does not repeat it. */
  readonly isOnce?: true;
  /** It is about how this manifest is read: a manifest that millrace wrote does not need it. */
  readonly isOfManifest?: true;
  /** Who knows the address may use it: `config` prints its host alone. */
  readonly isSecretAddress?: true;
  /** It decides what is sent, where and at what price: a saved plan holds a start to it. */
  readonly isPlanned?: true;
}

/** Options that the help of `run`, `plan` and `config` shows under one heading. */
export interface TablePage {
  readonly heading?: string;
  readonly rows: Readonly<Record<string, OptionRow>>;
}

/** Taken by `run`, and by `plan` and `config` in the same way. */
export const ofRun = { plan: true, run: true, config: true } as const;

/** Taken by `run`; a plan does not depend on it. */
export const notOfPlan = { plan: { unused: true }, run: true, config: true } as const;
