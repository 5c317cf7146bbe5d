import type { Option } from 'commander';
import type { CommandCall } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';

/** Prints a script, made from the declared commands, that completes commands, options and files in bash or zsh. */
export function completionCommand({ args: [shell], io, program }: CommandCall<[string]>): number {
  if (shell !== 'bash' && shell !== 'zsh')
    throw new UsageError([`"${shell}" is not a supported shell: use bash or zsh`]);
  const commands = program.commands.map((command) => ({
    name: command.name(),
    about: command.description(),
    options: command.options,
  }));
  io.stdout.write(shell === 'bash' ? bashScript(commands) : zshScript(commands));
  return 0;
}

interface Completed {
  readonly name: string;
  readonly about: string;
  readonly options: readonly Option[];
}

function bashScript(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options }) => `    ${name}) words='${flags(options).join(' ')}' ;;`);
  return `# To be read by bash: eval "$(millrace completion bash)", or in a file of bash-completion.
_millrace() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
}
complete -o bashdefault -o default -F _millrace millrace
`;
}

function zshScript(commands: readonly Completed[]): string {
  const listed = commands.map(({ name, about }) => `    ${quoted(`${name}:${about.replace(/:/g, '\\:')}`)}`);
  const cases = commands.map(
    ({ name, options }) => `    ${name}) _arguments -S ${options.map(argument).join(' ')} '*:file:_files' ;;`,
  );
  return `#compdef millrace
# To be read by zsh: source <(millrace completion zsh), or a file _millrace in a folder of $fpath.
_millrace() {
  local -a commands
  commands=(
${listed.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _millrace ]; then _millrace "$@"; else compdef _millrace millrace; fi
`;
}

function flags(options: readonly Option[]): string[] {
  return [...options.flatMap(({ long }) => (long == null ? [] : [long])), '--help'];
}

function argument({ long, description, required }: Option): string {
  const about = description.replace(/[[\]:\\]/g, (sign) => `\\${sign}`);
  return quoted(`*${long ?? ''}[${about}]${required ? ':value:_files' : ''}`);
}

function quoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}
