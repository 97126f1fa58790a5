/** A failure that the person at the terminal can act on. Its message is printed as one line, without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
