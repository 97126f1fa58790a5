/**
 * A question that only a server outside of Tollgate can answer. The body of a transaction throws it. It is asked while no transaction
 * is open, and then the body runs again from the start and finds the answer.
 */
export abstract class OutsideQuestion extends Error {
  /** The same for questions that have the same answer. */
  abstract readonly key: string
}

/** Asks a question and stores the answer in it. Rejects if there is no answer and nothing may be decided without it. */
export type AskOutside = (question: OutsideQuestion) => Promise<void>

/** More questions mean that what they are about changes faster than it is answered. */
const questionsMax = 32

/**
 * Attempts something, and asks what an attempt throws, until one ends without a question. Without `ask`, questions are thrown to the
 * caller. A crash between an answer and the next attempt loses the answer, and it is asked for again: a question has no effects.
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
