/** A program of PostgreSQL was killed before it was done. Starting again is all that is needed. */
export class PostgresKilledError extends Error {
  override readonly name = 'PostgresKilledError'
}

/** Whether the program was killed, or gave up because a process of its own was: it reports that one's end. */
export function wasKilled(signal: NodeJS.Signals | null, words: string): boolean {
  return signal !== null || /exit code 137|terminated by signal 9/.test(words)
}
