import type { Logger } from '@tollgate/platform/observability/logger'
import type { BadItemReason, BusMessage } from './bus-message.ts'
import type { BusCounts } from './bus-metrics.ts'

/** Minimum milliseconds between two warnings. It keeps a publisher of malformed messages from filling the log. */
const lineEveryMs = 1_000

/**
 * Counts dropped messages and items and logs where each came from and why it was dropped. The log lines hold no part of the
 * content, because usage is personal data.
 */
export class BadItemLog {
  readonly #logger: Logger
  readonly #counts: BusCounts
  #loggedAtMs = -Infinity
  #unlogged = 0

  constructor(logger: Logger, counts: BusCounts) {
    this.#logger = logger
    this.#counts = counts
  }

  add(message: BusMessage, index: number, reason: BadItemReason): void {
    this.#counts.countBad(reason)
    this.#warn({ ...placeOf(message), index, reason }, 'an item of the message bus was dropped')
  }

  addUndecodable(message: BusMessage): void {
    const bytes = message.data.byteLength
    this.#warn(
      { ...placeOf(message), bytes },
      'a message of the message bus does not contain usage and was dropped',
    )
  }

  #warn(what: Readonly<Record<string, unknown>>, line: string): void {
    const now = performance.now()
    if (now - this.#loggedAtMs < lineEveryMs) {
      this.#unlogged += 1
      return
    }
    this.#loggedAtMs = now
    this.#logger.warn({ ...what, unlogged: this.#unlogged }, line)
    this.#unlogged = 0
  }
}

function placeOf({ subject, sequence }: BusMessage): Readonly<Record<string, unknown>> {
  return sequence === undefined ? { subject } : { subject, sequence }
}
