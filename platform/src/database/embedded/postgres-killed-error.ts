/** A PostgreSQL program was killed before it was done. Starting it again is sufficient. */
export class PostgresKilledError extends Error {
  override readonly name = 'PostgresKilledError'
}

/** Returns whether the program was killed, or ended because one of its own processes was killed, which its output reports. */
export function wasKilled(signal: NodeJS.Signals | null, words: string): boolean {
  return signal !== null || /exit code 137|terminated by signal 9/.test(words)
}
