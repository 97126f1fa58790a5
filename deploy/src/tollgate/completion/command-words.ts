import type { Command } from 'commander'
import { pathOf, withDescendants } from '@tollgate/platform/cli/command-line'

/** Words that may follow a command. */
export type CommandWords = {
  /** Words of the command without the program's name, for example `key create`. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly OptionWord[]
}

export type Word = { readonly word: string; readonly description: string }
export type OptionWord = Word & {
  readonly choices: readonly string[]
  readonly takesValue: boolean
}

export function commandWords(program: Command): CommandWords[] {
  return withDescendants(program).map((command) => ({
    path: pathOf(command).split(' ').slice(1).join(' '),
    commands: command.commands.map((each) => ({
      word: each.name(),
      description: each.description(),
    })),
    options: [...command.options, ...(command === program ? [] : program.options)].flatMap(
      ({ long, description, argChoices = [], required, optional }) =>
        long === undefined || long === null
          ? []
          : [{ word: long, description, choices: argChoices, takesValue: required || optional }],
    ),
  }))
}
