/**
 * Returns the first `needed` answers. That many attempts start at once, in order. One more starts whenever one fails, and every
 * `patienceMs` milliseconds. Rejects with a failure if too few attempts remain.
 */
export function firstAnswers<Answer>(
  attempts: readonly (() => Promise<Answer>)[],
  needed: number,
  patienceMs: number,
): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const answers: Answer[] = []
    let next = 0
    let failures = 0
    const timer = setInterval(() => start(), patienceMs)
    const end = (settle: () => void): void => {
      clearInterval(timer)
      settle()
    }
    const start = (): void => {
      const attempt = attempts[next++]
      if (attempt === undefined) return clearInterval(timer)
      attempt().then(
        (answer) => {
          answers.push(answer)
          if (answers.length === needed) end(() => resolve(answers))
        },
        (reason: unknown) => {
          failures++
          if (attempts.length - failures < needed) end(() => reject(asError(reason)))
          else start()
        },
      )
    }
    if (attempts.length < needed) end(() => reject(new Error('There is nobody to ask.')))
    else if (needed === 0) end(() => resolve(answers))
    else for (let count = 0; count < needed; count++) start()
  })
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
