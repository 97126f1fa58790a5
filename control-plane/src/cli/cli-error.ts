/** Told to the operator in one line; everything else that is thrown is a fault of ours. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
