import { type Command, InvalidArgumentError } from 'commander'
import { print } from '../process/print.ts'

/** Adds `completion`, which prints a completion script for a shell. */
export function addCompletionCommand(root: Command): void {
  root
    .command('completion')
    .argument('<shell>', Object.keys(scripts).join(', '), parseShell)
    .description('print a script that completes commands and options in a shell')
    .addHelpText('after', examples)
    .action((shell: Shell) => print(scripts[shell](listWords(root))))
}

const examples = `
Examples:
  source <(gateway completion bash)
  gateway completion zsh > "\${fpath[1]}/_gateway"
  gateway completion fish > ~/.config/fish/completions/gateway.fish`

/** The words that may follow each command, by the names of the command from the root. */
type Words = ReadonlyMap<string, readonly string[]>

function listWords(root: Command): Words {
  const words = new Map<string, readonly string[]>()
  const visit = (path: readonly string[], command: Command): void => {
    const names = command.commands.flatMap((each) => [each.name(), ...each.aliases()])
    const options = command.options.flatMap(({ long }) => long ?? [])
    words.set(path.join(' '), [...names, ...options, '--help'])
    for (const each of command.commands) {
      for (const name of [each.name(), ...each.aliases()]) visit([...path, name], each)
    }
  }
  visit([], root)
  return words
}

function parseShell(text: string): string {
  if (text in scripts) return text
  throw new InvalidArgumentError(`must be ${Object.keys(scripts).join(', ')}`)
}

type Shell = keyof typeof scripts

const scripts = { bash: writeBash, zsh: writeZsh, fish: writeFish } as const

/** Follows the typed words as long as they name a command, then offers what may follow it. */
function writeBash(words: Words): string {
  return `# Completion of gateway for bash
_gateway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${listPaths(words, (path) => `' ${path}'`).join('|')}) path="$path $word" ;;
    esac
  done
  case "$path" in
${writeCases(words, (text) => `words='${text}'`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gateway gateway`
}

function writeZsh(words: Words): string {
  return `#compdef gateway
_gateway() {
  local current_path='' word
  local -a choices
  for word in "\${words[@]:1:CURRENT-2}"; do
    case "$current_path $word" in
      ${listPaths(words, (path) => `' ${path}'`).join('|')}) current_path="$current_path $word" ;;
    esac
  done
  case "$current_path" in
${writeCases(words, (text) => `choices=(${text})`)}
  esac
  compadd -a choices
  [[ $PREFIX == -* ]] || _files
}
compdef _gateway gateway`
}

function writeFish(words: Words): string {
  const lines = Array.from(words, ([path, choices]) => {
    return `complete -c gateway -n "test (__gateway_path) = '${path}'" -a '${choices.join(' ')}'`
  })
  return `# Completion of gateway for fish
function __gateway_path
  set -l path
  for word in (commandline -opc)[2..]
    switch "$path $word"
      case ${listPaths(words, (path) => `'${path.includes(' ') ? path : ` ${path}`}'`).join(' ')}
        set path $path $word
    end
  end
  echo "$path"
end
${lines.join('\n')}`
}

function listPaths(words: Words, quote: (path: string) => string): readonly string[] {
  return [...words.keys()].filter((path) => path !== '').map(quote)
}

function writeCases(words: Words, assign: (text: string) => string): string {
  return Array.from(words, ([path, choices]) => {
    const key = path === '' ? "''" : `' ${path}'`
    return `    ${key}) ${assign(choices.join(' '))} ;;`
  }).join('\n')
}
