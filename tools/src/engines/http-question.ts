const answerTimeoutMs = 2_000

/** Returns whether a request is answered successfully in time. */
export async function answersHttp(
  url: string,
  headers: Record<string, string> = {},
): Promise<boolean> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(answerTimeoutMs) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}
