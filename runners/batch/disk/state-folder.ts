type Env = Readonly<Record<string, string | undefined>>;

/** Where programs of a user keep what outlives them: `XDG_STATE_HOME` on every system, else the system's own place. */
export function stateFolder(env: Env, platform: string, home: string): string {
  const state = env['XDG_STATE_HOME'];
  if (state !== undefined && state !== '') return `${state}/millrace`;
  if (platform === 'win32') return `${env['LOCALAPPDATA'] ?? `${home}/AppData/Local`}/millrace`;
  if (platform === 'darwin') return `${home}/Library/Application Support/millrace`;
  return `${home}/.local/state/millrace`;
}
