import type { LmdbStore } from '../../lmdb/environment.ts'

/**
 * Lets the reads of one turn of the event loop share one look at the store: taking a new one costs more than a read.
 *
 * What another process wrote before its caller was answered is seen by whatever that caller asks next, because the
 * question arrives in a later turn. What happens within a turn, a write of our own or a wake-up, ends the look.
 */
export class ReadTurn {
  readonly #store: LmdbStore
  #number = 0
  #isOpen = false
  #isBrief = false

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Opens a look unless this turn has one. The number is another one for every look. */
  begin(): number {
    if (!this.#isOpen) {
      this.#isOpen = true
      this.#number += 1
      this.#store.resetReadTxn()
      if (this.#isBrief) queueMicrotask(this.end)
      else setImmediate(this.end)
      this.#isBrief = false
    }
    return this.#number
  }

  /** The next read looks again. */
  readonly end = (): void => {
    this.#isOpen = false
  }

  /**
   * The next read looks again, and no request shares what it sees: a look that begins in a timer would still be open
   * when the loop takes questions that were asked after it.
   */
  endBriefly(): void {
    this.#isOpen = false
    this.#isBrief = true
  }

  /** A look for one read alone. */
  renew(): void {
    this.end()
    this.#number += 1
    this.#store.resetReadTxn()
  }
}
