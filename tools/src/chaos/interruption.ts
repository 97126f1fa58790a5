/** Somebody wants the run to end now: not a failure of what is tested. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Its signal aborts with an InterruptedError at Ctrl-C. A second Ctrl-C ends the process as always. */
export function interruptible(): AbortSignal {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interruption.abort(new InterruptedError()))
  }
  return interruption.signal
}

/** As the work ends, or rejects as soon as the signal aborts; what the work still does is on its own then. */
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
