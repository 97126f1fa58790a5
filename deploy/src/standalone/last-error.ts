/** Returns the reason of a failure from the last lines of a service's log, which are JSON objects or plain text of a crash. */
export function lastErrorIn(logTail: string): string | undefined {
  const lines = logTail.trimEnd().split('\n').reverse()
  return lines.map(errorIn).find((reason) => reason !== undefined)
}

function errorIn(line: string): string | undefined {
  if (!line.startsWith('{')) return /error|cannot|could not/i.test(line) ? line.trim() : undefined
  try {
    return (JSON.parse(line) as { err?: { message?: string } }).err?.message
  } catch {
    return undefined
  }
}
