import { buildProgram } from './build-program.js';
import type { CliIo } from './io/cli-io.js';
import { explainError, type FaultContext } from './io/explain-error.js';

/** One call of the command line: runs the command that `argv` names and returns the exit code. Never throws, never exits. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode = 0;
  const fault: FaultContext = { secrets: [io.env['MILLRACE_API_KEY'] ?? ''] };
  io.onFault((error) => explainError(error, io, fault));
  const program = buildProgram(io, fault, (code) => void (exitCode = code));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    return explainError(error, io, fault);
  }
}
