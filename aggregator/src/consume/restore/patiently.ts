/** A call has failed and will be made once more. */
export type Failed = { readonly kind: 'failed'; readonly error: unknown; readonly waitMs: number }

const backoffMinMs = 100
const backoffMaxMs = 5_000

/**
 * Makes a call until it succeeds, which has to be right however often it was made before without an answer. Whoever
 * drives it waits between two tries, and may give up there.
 */
export async function* patiently<Result>(
  call: () => Promise<Result>,
): AsyncGenerator<Failed, Result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await call()
    } catch (error) {
      const waitMs = Math.min(backoffMaxMs, backoffMinMs * 2 ** failures)
      yield { kind: 'failed', error, waitMs }
    }
  }
}
