type Waiting<Answer> = {
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Collects questions while one request is in flight and sends all of them with the next one. So an answer is never older than its
 * question, and any rate of questions needs only one request at a time.
 */
export class NextRequest<Question, Answer> {
  readonly #send: (questions: readonly Question[]) => Promise<ReadonlyMap<string, Answer>>
  readonly #keyOf: (question: Question) => string
  #questions = new Map<string, Question>()
  #waiting: (Waiting<Answer> & { readonly key: string })[] = []
  #isSending = false

  /** `send` returns answers by key. A question without an answer is rejected. */
  constructor(
    keyOf: (question: Question) => string,
    send: (questions: readonly Question[]) => Promise<ReadonlyMap<string, Answer>>,
  ) {
    this.#keyOf = keyOf
    this.#send = send
  }

  ask(question: Question): Promise<Answer> {
    const key = this.#keyOf(question)
    this.#questions.set(key, question)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject })
      if (!this.#isSending) this.#start()
    })
  }

  #start(): void {
    this.#isSending = true
    // Questions of the same turn of the event loop are sent together.
    queueMicrotask(() => {
      const questions = [...this.#questions.values()]
      const waiting = this.#waiting
      this.#questions = new Map()
      this.#waiting = []
      this.#send(questions)
        .then(
          (answers) => settle(waiting, answers),
          (reason: unknown) => {
            for (const { reject } of waiting) reject(reason)
          },
        )
        .finally(() => {
          this.#isSending = false
          if (this.#waiting.length > 0) this.#start()
        })
    })
  }
}

function settle<Answer>(
  waiting: readonly (Waiting<Answer> & { readonly key: string })[],
  answers: ReadonlyMap<string, Answer>,
): void {
  for (const { key, resolve, reject } of waiting) {
    const answer = answers.get(key)
    if (answer === undefined) reject(new Error(`Kafka did not answer for ${key}.`))
    else resolve(answer)
  }
}
