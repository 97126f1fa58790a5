/** Stripe has not answered in time. The request may still be processed. */
export class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError'
}

/**
 * Waits for a response with a total timeout. The SDK's own timeout only limits the silence on one connection, so a slow response or
 * a second connection could take longer.
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
