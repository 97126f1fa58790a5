/** Stripe has not answered in time; the request may still be on its way. */
export class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError'
}

/**
 * Waits for an answer, and no longer than this: the SDK's own limit is on the silence of one connection, so an answer that
 * drips in, or a second connection, could take longer.
 */
export async function inTime<Answer>(timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new LateAnswerError(`Stripe has not answered within ${timeoutMs} ms.`)),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
