import type { Option, Command } from 'commander';
import type { CommandCall } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';

/** Prints a script, made from the declared commands, that completes commands, options and files in bash or zsh. */
export function completionCommand({ args: [shell], io, program }: CommandCall<[string]>): number {
  if (shell !== 'bash' && shell !== 'zsh')
    throw new UsageError([`"${shell}" is not a supported shell: use bash or zsh`]);
  io.stdout.write(shell === 'bash' ? bashScript(program.commands) : zshScript(program.commands));
  return 0;
}

function bashScript(commands: readonly Command[]): string {
  const cases = commands.map(
    (command) => `    ${command.name()}) words='${flags(command.options).join(' ')}' ;;`,
  );
  return `# To be read by bash: eval "$(millrace completion bash)", or in a file of bash-completion.
_millrace() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map((command) => command.name()).join(' ')}' -- "$word"))
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

function zshScript(commands: readonly Command[]): string {
  const listed = commands.map(
    (command) => `    ${quoted(`${command.name()}:${command.description().replace(/:/g, '\\:')}`)}`,
  );
  const cases = commands.map(
    (command) =>
      `    ${command.name()}) _arguments -S ${command.options.map(argument).join(' ')} '*:file:_files' ;;`,
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
