/** A call failed and will be repeated after `waitMs`. */
export type Failed = { readonly kind: 'failed'; readonly error: unknown; readonly waitMs: number }

const backoffMinMs = 100
const backoffMaxMs = 5_000

/**
 * Repeats a call until it succeeds. The call must be correct however often it was executed before without a response. The consumer
 * of the generator waits between two attempts, and may stop there.
 */
export async function* retryUntilSuccess<Result>(
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
