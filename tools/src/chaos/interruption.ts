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
