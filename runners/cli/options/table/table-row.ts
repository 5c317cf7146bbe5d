import type * as z from 'zod';
import type { OptionValues } from '../option-value.js';

export type CommandName = 'plan' | 'run' | 'config' | FolderCommand | 'init' | 'serve' | 'worker';
type FolderCommand = 'status' | 'report' | 'watch' | 'settle' | 'reconcile' | 'refetch' | 'pick';

/** How one command treats an option, if it differs from the other commands. */
export interface Taken {
  /** Its meaning for this command. */
  readonly meaning?: string;
  readonly required?: true;
  /** The command accepts and ignores it, so that the options of a `run` command can be pasted. */
  readonly unused?: true;
}

/** One option. The schema, the help, the completion, configuration files and saved plans all use this row. */
export interface OptionRow {
  /** Its meaning, without its default. */
  readonly meaning: string;
  readonly commands: { readonly [Name in CommandName]?: true | Taken };
  /** The name of its value in the help, such as `USD|none`; `D` is a duration. Absent: a switch. */
  readonly takes?: string;
  /** Creates the schema of its value, only when options are parsed: the help loads no schema. */
  readonly value?: (values: OptionValues) => z.ZodType;
  readonly repeats?: true;
  /** The default, in the form of the command line. */
  readonly fallback?: string | readonly string[];
  /** What happens without it, for the help. */
  readonly otherwise?: string;
  /** A switch that is on by default: the option is `--no-NAME`. */
  readonly isOn?: true;
  /** A configuration file may set it; a relative path starts at the file's folder. */
  readonly config?: 'text' | 'path';
  /** The environment variable that sets this option; it overrides a configuration file. */
  readonly variable?: string;
  /** An environment variable that gives the same information in another form; it overrides a configuration file. */
  readonly variableInstead?: string;
  /** It is about the real service: with `--local`, its value in a configuration file is ignored. */
  readonly isOfService?: true;
  /** It applies to one start only, or the run remembers it: printed commands that continue the run omit it. */
  readonly isOnce?: true;
  /** It says how the manifest is read; a manifest that millrace wrote does not need it. */
  readonly isOfManifest?: true;
  /** The address is a secret: `config` prints only its host. */
  readonly isSecretAddress?: true;
  /** It decides what is sent, where and at what price: a start from a saved plan must have the same value. */
  readonly isPlanned?: true;
  /** It decides about rows that failed, have changed or are left for later: `runBatch` has it under the same name. */
  readonly isChoice?: true;
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

/** Taken by `run`, and by configuration files. */
export const setting = { commands: notOfPlan, config: 'text' } as const;

/** Values that several options take. */
export const file = { takes: 'FILE', value: (values: OptionValues) => values.named('file') } as const;
export const folder = { takes: 'DIR', value: (values: OptionValues) => values.named('folder') } as const;
export const host = { takes: 'URL', value: (values: OptionValues) => values.host() } as const;
export const usd = { takes: 'USD', value: (values: OptionValues) => values.usd() } as const;
