/** The user interrupted the run. This is not a failure of the tested installation. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Returns a signal that aborts with an InterruptedError at Ctrl-C. A second Ctrl-C ends the process as usual. */
export function interruptible(): AbortSignal {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interruption.abort(new InterruptedError()))
  }
  return interruption.signal
}

/** Settles like `work`, or rejects as soon as the signal aborts. The work itself is not cancelled. */
export function unlessAborted<Result>(
  signal: AbortSignal | undefined,
  work: Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work
  const aborted = new Promise<never>((_, reject) => {
    const refuse = (): void => reject(signal.reason as Error)
    if (signal.aborted) refuse()
    else signal.addEventListener('abort', refuse, { once: true })
  })
  return Promise.race([work, aborted])
}
