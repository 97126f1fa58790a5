/** Maximum number of documents that one publisher writes to hot state at a time. */
export const documentsInFlightMax = 64

/**
 * Runs `act` for each item, at most `concurrencyMax` at a time. After a failure no further item is started. The error is thrown
 * after the items in progress have ended.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  concurrencyMax: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  let failure: { readonly error: unknown } | undefined
  const work = async (): Promise<void> => {
    for (;;) {
      const next = failure === undefined ? waiting.next() : undefined
      if (next === undefined || next.done === true) return
      try {
        await act(next.value)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: concurrencyMax }, work))
  if (failure !== undefined) throw failure.error
}
