import { UsageError } from './usage-error.js';

/** Says what is wrong with the port that `--port` names: throws `UsageError`, or the error itself when it is another. */
export function explainPort(error: unknown, port: number): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    throw new UsageError([`--port: ${port} is in use: choose another one, or leave it out for any free one`]);
  if (code === 'EACCES')
    throw new UsageError([`--port: ${port} is not for this user: choose one above 1023`]);
  throw error;
}
