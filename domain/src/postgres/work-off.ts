/** Documents of one publisher on their way to the hot state at a time. */
export const documentsInFlightMax = 64

/**
 * Carries out `act` for each item, a bounded number of them at a time. After a failure none is begun any more; it is
 * thrown when those that were under way have ended.
 */
export async function workOff<Item>(
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
