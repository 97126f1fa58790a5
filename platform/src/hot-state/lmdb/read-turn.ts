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

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Opens a look unless this turn has one. The number is another one for every look. */
  begin(): number {
    if (!this.#isOpen) {
      this.#isOpen = true
      this.#number += 1
      this.#store.resetReadTxn()
      setImmediate(this.end)
    }
    return this.#number
  }

  /** The next read looks again. */
  readonly end = (): void => {
    this.#isOpen = false
  }

  /** A look of its own, for a read that must not be late even within the turn. */
  renew(): number {
    this.end()
    return this.begin()
  }
}
