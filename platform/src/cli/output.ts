import type { Writable } from 'node:stream'

export type OutputMode = 'text' | 'json' | 'quiet'

/** What a command found or did, in the three forms in which it can be printed. */
export type CliResult = {
  /** The document of `--json`. Its keys are stable: fields may be added. */
  readonly json: unknown
  /** Lines for people. */
  readonly text: readonly string[]
  /** Lines of `--quiet`: identifiers, secrets and addresses that a script goes on with. */
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

/**
 * Lets a command go on when the reader of its output goes away, as `head` does: what the command does is not left half
 * done, and it ends as it would. Other errors of the stream are thrown as before.
 */
export function ignoreClosedPipe(stream: Writable = process.stdout): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

export function printToStandardOutput(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Integers beyond what JSON numbers hold become strings. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each),
    indent,
  )
}
