/**
 * The first `needed` answers. As many attempts are made at once, in their order; one more whenever one fails, and
 * whenever `patienceMs` pass. Rejects with a failure when those that are left are too few.
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
