import { readFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { Command, Help, Option } from 'commander'
import { createOutput, ignoreClosedPipe, printToStandardOutput, type Output } from './output.ts'

export type CommandLine = { readonly program: Command; readonly output: Output }

const plainHelp = new Help()

/**
 * Returns the root of a command line with the options that all commands share. Its help lists every command that can be run, in
 * groups.
 */
export function createCommandLine(
  name: string,
  print: (line: string) => void = printToStandardOutput,
): CommandLine {
  const program: Command = new Command(name)
    .version(readVersion(), '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .addOption(new Option('--json', 'Print JSON').conflicts('quiet'))
    .addOption(new Option('-q, --quiet', 'Print only what a script needs'))
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => styleText('bold', title),
      // Set only while the help is formatted, because suggestions for unknown commands use the visible commands as well.
      formatHelp: (command, help) => {
        if (command === program) help.visibleCommands = () => leavesOf(program)
        return plainHelp.formatHelp(command, help)
      },
      subcommandTerm: (command) => {
        const parameters = command.registeredArguments.map((each) => ` <${each.name()}>`)
        return pathOf(command).split(' ').slice(1).join(' ') + parameters.join('')
      },
    })
  const mode = () => {
    const { json, quiet } = program.opts<{ json?: true; quiet?: true }>()
    return json === true ? 'json' : quiet === true ? 'quiet' : 'text'
  }
  return { program, output: createOutput(mode, print) }
}

/**
 * Gives every command the same format of help and errors. Call it after all commands were added. The usage line contains the
 * required options. An error is one line that suggests the nearest word and names the help.
 */
export function finishCommandLine(program: Command): void {
  for (const top of program.commands) {
    for (const command of withDescendants(top)) command.helpGroup(top.helpGroup())
  }
  for (const command of withDescendants(program)) {
    const required = command.options.filter(({ mandatory }) => mandatory)
    for (const option of required) option.description += ' (required)'
    const words = required.map(({ flags }) => flags)
    const parameters = command.registeredArguments.map((each) => `<${each.name()}>`)
    const isGroup = command.commands.length > 0
    command.usage([...(isGroup ? ['<command>'] : parameters), ...words, '[options]'].join(' '))
    command.configureOutput({
      outputError: (text, write) => {
        if (text.startsWith('error: required option')) refuseUnknownOptions(program, command)
        write(`${errorLine(text, pathOf(command))}\n`)
      },
    })
  }
}

export function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)]
}

function leavesOf(command: Command): Command[] {
  return withDescendants(command).filter(({ commands }) => commands.length === 0)
}

/** Returns the words that call a command, beginning with the name of the program. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** Reports a misspelled option. Without this, Commander first reports the required option as missing. */
function refuseUnknownOptions(program: Command, command: Command): void {
  type Internals = { readonly rawArgs: readonly string[]; unknownOption(flag: string): void }
  const { rawArgs } = program as unknown as Internals
  const known = [...program.options, ...command.options].map(({ long }) => long)
  const unknown = rawArgs
    .map((word) => word.replace(/=.*/s, ''))
    .find((word) => /^--\w/.test(word) && !known.includes(word) && word !== '--help')
  if (unknown !== undefined) (command as unknown as Internals).unknownOption(unknown)
}

function errorLine(text: string, path: string): string {
  const plain = text.trim().replace(/^error: /, '')
  const line = plain.replace(/\n\(Did you mean (one of )?(.+)\?\)/, '. Did you mean $1$2?')
  const sentence = line.charAt(0).toUpperCase() + line.slice(1)
  return `${/[.?!]$/.test(sentence) ? sentence : `${sentence}.`} See: ${path} --help`
}

/**
 * Parses the parameters and runs the command. Errors are printed as one line. `explain` returns the text for errors that are not
 * bugs, or undefined.
 */
export async function runCommandLine(
  program: Command,
  explain: (error: unknown) => string | undefined,
  parameters: readonly string[] = process.argv.slice(2),
): Promise<void> {
  ignoreClosedPipe()
  try {
    if (parameters.length === 0) program.outputHelp()
    else await program.parseAsync([...parameters], { from: 'user' })
  } catch (error) {
    process.stderr.write(`${explain(error) ?? String((error as Error).message ?? error)}\n`)
    process.exitCode = 1
  }
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
