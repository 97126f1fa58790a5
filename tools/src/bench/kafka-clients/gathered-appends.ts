import type { LogAppend } from '@tollgate/platform/event-log/event-log'

export type GatheredRecord = LogAppend & { readonly receivedAtMs: number }

type Send = (records: readonly GatheredRecord[]) => Promise<unknown>

type Commit = {
  readonly records: GatheredRecord[]
  readonly durable: Promise<void>
  readonly settle: (sent: Promise<void>) => void
}

/**
 * Group commit for a client that sends what it is given at once: records collect while a send is under way, and all of
 * them go with the next, as in our own producer. One send at a time, because clients that number the records of a
 * partition give two that run at once the same numbers.
 */
export class GatheredAppends {
  readonly #send: Send
  #next: Commit | undefined
  #isSending = false

  constructor(send: Send) {
    this.#send = send
  }

  append(record: GatheredRecord): Promise<void> {
    if (this.#next === undefined) {
      this.#next = beginCommit()
      // The end of this turn: all that the turn brings goes along.
      if (!this.#isSending) setImmediate(() => void this.#sendAll())
    }
    // Whoever appends may use its bytes again.
    this.#next.records.push({ ...record, value: Buffer.from(record.value) })
    return this.#next.durable
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    while (this.#next !== undefined) {
      const { records, settle } = this.#next
      this.#next = undefined
      const sent = this.#send(records).then(() => undefined)
      settle(sent)
      await sent.catch(() => undefined)
    }
    this.#isSending = false
  }
}

function beginCommit(): Commit {
  let settle: Commit['settle'] = () => undefined
  const durable = new Promise<void>((resolve) => (settle = resolve))
  return { records: [], durable, settle }
}
