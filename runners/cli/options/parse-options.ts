import type * as z from 'zod';
import { UsageError } from '../io/usage-error.js';

/** The options of one command, checked: every wrong one is named at once, each with what is allowed. Throws `UsageError`. */
export function parseOptions<T>(schema: z.ZodType<T>, raw: Readonly<Record<string, unknown>>): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map(describe));
}

function describe(issue: z.core.$ZodIssue): string {
  const [name] = issue.path;
  return name === undefined ? issue.message : `${flagOf(String(name))}: ${issue.message}`;
}

/** `runsyncTimeout` → `--runsync-timeout`. */
function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
