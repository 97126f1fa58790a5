import type { LogAppend } from '@tollgate/platform/event-log/event-log'

export type GatheredRecord = LogAppend & { readonly receivedAtMs: number }

type Send = (records: readonly GatheredRecord[]) => Promise<unknown>

type Commit = {
  readonly records: GatheredRecord[]
  readonly durable: Promise<void>
  readonly settle: (sent: Promise<void>) => void
}

/**
 * Group commit for a client that sends each call immediately. Records are collected while a send is in progress and are sent
 * together afterwards, as in Tollgate's own producer. There is only 1 send at a time, because clients with an idempotent producer
 * would give 2 concurrent sends the same sequence numbers.
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
      // Send at the end of the event loop turn, so that all records of this turn are sent together.
      if (!this.#isSending) setImmediate(() => void this.#sendAll())
    }
    // Copy the value, because the caller may reuse its buffer.
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
