import type { Writable } from 'node:stream'

export type OutputMode = 'text' | 'json' | 'quiet'

/** The result of a command in its three output formats. */
export type CliResult = {
  /** The document of `--json`. Its keys are stable: fields may be added. */
  readonly json: unknown
  /** Lines for people. */
  readonly text: readonly string[]
  /** Lines of `--quiet`: identifiers, secrets and addresses that a script uses next. */
  readonly quiet?: readonly string[]
}

export type Output = {
  readonly mode: () => OutputMode
  /** Prints a line in every mode. */
  readonly print: (line: string) => void
  /** Prints the result of the command. */
  readonly show: (result: CliResult) => void
  /** Prints a line of progress, for people only. */
  readonly note: (line: string) => void
}

export function createOutput(mode: () => OutputMode, print: (line: string) => void): Output {
  return {
    mode,
    print,
    show({ json, text, quiet = [] }) {
      if (mode() === 'json') print(jsonText(json, 2))
      else for (const line of mode() === 'quiet' ? quiet : text) print(line)
    },
    note(line) {
      if (mode() === 'text') print(line)
    },
  }
}

/** Lets a command finish its work when the reader of its output exits, as `head` does. Other errors of the stream are thrown. */
export function ignoreClosedPipe(stream: Writable = process.stdout): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

export function printToStandardOutput(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Returns JSON text in which every bigint is written as a string. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each),
    indent,
  )
}
