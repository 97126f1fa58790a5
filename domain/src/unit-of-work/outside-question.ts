/**
 * A question that only a server outside of Tollgate can answer. The body of a transaction throws it. It is asked while no transaction
 * is open, and then the body runs again from the start and finds the answer.
 */
export abstract class OutsideQuestion extends Error {
  /** Questions with the same key have the same answer. */
  abstract readonly key: string
}

/** Asks a question and stores the answer in it. Rejects if there is no answer and nothing may be decided without it. */
export type AskOutside = (question: OutsideQuestion) => Promise<void>

/** Maximum number of questions of one call. More questions mean that the rows change faster than questions about them are answered. */
const questionsMax = 32

/**
 * Runs `attempt` and asks each question that it throws, until an attempt ends without a question. Without `ask`, questions are thrown
 * to the caller. A crash between an answer and the next attempt loses the answer, and the question is asked again. It has no effects.
 */
export async function answeringQuestions<Result>(
  ask: AskOutside | undefined,
  attempt: (asked: readonly OutsideQuestion[]) => Promise<Result>,
): Promise<Result> {
  const asked: OutsideQuestion[] = []
  for (;;) {
    try {
      return await attempt(asked)
    } catch (error) {
      if (!(error instanceof OutsideQuestion) || ask === undefined) throw error
      if (asked.length >= questionsMax) throw error
      await ask(error)
      asked.push(error)
    }
  }
}
