import type { Command } from 'commander'
import { commandWords, type CommandWords } from './command-words.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * Returns a script that completes the words of the program. It contains all words, because querying the program would start Node at
 * each key press.
 */
export function completionScript(program: Command, shell: Shell): string {
  const all = commandWords(program)
  const name = program.name()
  switch (shell) {
    case 'bash':
      return bash(name, all)
    case 'zsh':
      return zsh(name, all)
    case 'fish':
      return fish(name, all)
  }
}

/** Returns shell functions for bash and zsh that list the words after a path, and the values of an option. */
function tables(name: string, all: readonly CommandWords[]): string[] {
  return [
    `_${name}_commands() {`,
    '  case "$1" in',
    ...all
      .filter(({ commands }) => commands.length > 0)
      .map(({ path, commands }) => `    '${path}') echo '${joinWords(commands)}' ;;`),
    '  esac',
    '}',
    `_${name}_options() {`,
    '  case "$1" in',
    ...all.map(({ path, options }) => `    '${path}') echo '${joinWords(options)}' ;;`),
    '  esac',
    '}',
    `_${name}_values() {`,
    '  case "$1 $2" in',
    ...all.flatMap(({ path, options }) =>
      options
        .filter(({ choices }) => choices.length > 0)
        .map(({ word, choices }) => `    '${path} ${word}') echo '${choices.join(' ')}' ;;`),
    ),
    '  esac',
    '}',
    // The path consists of the words that are commands at their position. Options and their values are skipped.
    `_${name}_path() {`,
    '  local path="" word',
    '  for word in "$@"; do',
    `    case " $(_${name}_commands "$path") " in`,
    '      *" $word "*) path="${path:+$path }$word" ;;',
    '    esac',
    '  done',
    '  echo "$path"',
    '}',
    `_${name}_candidates() {`,
    '  local current="$1" previous="$2" path values',
    '  shift 2',
    `  path="$(_${name}_path "$@")"`,
    `  values="$(_${name}_values "$path" "$previous")"`,
    '  if [ -n "$values" ]; then echo "$values"',
    `  elif [ "\${current#-}" != "$current" ]; then echo "$(_${name}_options "$path") --help"`,
    `  else _${name}_commands "$path"`,
    '  fi',
    '}',
  ]
}

function bash(name: string, all: readonly CommandWords[]): string {
  return [
    `# Completion of ${name} for bash: eval "$(${name} completion bash)"`,
    ...tables(name, all),
    `_${name}() {`,
    '  local current="${COMP_WORDS[COMP_CWORD]}" words',
    `  words="$(_${name}_candidates "$current" "\${COMP_WORDS[COMP_CWORD - 1]}" "\${COMP_WORDS[@]:1:COMP_CWORD-1}")"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    `complete -o default -F _${name} ${name}`,
  ].join('\n')
}

function zsh(name: string, all: readonly CommandWords[]): string {
  return [
    `#compdef ${name}`,
    `# Completion of ${name} for zsh: eval "$(${name} completion zsh)", after compinit`,
    ...tables(name, all),
    `_${name}() {`,
    '  local -a candidates',
    `  candidates=(\${=$(_${name}_candidates "$words[CURRENT]" "$words[CURRENT-1]" "\${(@)words[2,CURRENT-1]}")})`,
    '  if (( $#candidates )); then compadd -- $candidates; else _files; fi',
    '}',
    `compdef _${name} ${name}`,
  ].join('\n')
}

function fish(name: string, all: readonly CommandWords[]): string {
  const text = (value: string): string =>
    `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const paths = all.map(({ path }) => path).filter((path) => path !== '')
  return [
    `# Completion of ${name} for fish: ${name} completion fish | source`,
    `function __${name}_at`,
    '  set -l path',
    '  for word in (commandline -opc)[2..]',
    `    if contains -- (string join -- ' ' $path $word) ${paths.map(text).join(' ')}`,
    '      set -a path $word',
    '    end',
    '  end',
    '  test "$path" = "$argv[1]"',
    'end',
    ...all.flatMap(({ path, commands, options }) => {
      const at = `complete -c ${name} -n ${text(`__${name}_at ${text(path)}`)}`
      return [
        ...commands.map(({ word, description }) => `${at} -f -a ${word} -d ${text(description)}`),
        ...options.map(({ word, description, choices, takesValue }) => {
          const value =
            choices.length > 0 ? ` -x -a ${text(choices.join(' '))}` : takesValue ? ' -r' : ''
          return `${at} -l ${word.slice(2)}${value} -d ${text(description)}`
        }),
      ]
    }),
  ].join('\n')
}

function joinWords(words: readonly { readonly word: string }[]): string {
  return words.map(({ word }) => word).join(' ')
}
