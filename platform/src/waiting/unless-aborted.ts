/** Settles like `work`, or rejects with the reason of the signal as soon as it aborts. The work itself continues. */
export function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
