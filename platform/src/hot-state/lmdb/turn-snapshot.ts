import type { LmdbStore } from '../../lmdb/lmdb-store.ts'

/**
 * Lets the reads of one turn of the event loop share one snapshot of the store, because opening a snapshot costs more than a read.
 *
 * A write of another process that was acknowledged to a caller is visible to the caller's next request, because that request
 * arrives in a later turn. A write of this process or a wake-up ends the snapshot.
 */
export class TurnSnapshot {
  readonly #store: LmdbStore
  #number = 0
  #isOpen = false
  #isBrief = false

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Opens a snapshot unless this turn has one. Returns a number that differs for every snapshot. */
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

  /** Makes the next read open a new snapshot. */
  readonly end = (): void => {
    this.#isOpen = false
  }

  /**
   * Makes the next read open a snapshot that no request shares. A snapshot that begins in a timer would still be open when requests
   * arrive that were sent after it.
   */
  endBriefly(): void {
    this.#isOpen = false
    this.#isBrief = true
  }

  /** Opens a snapshot for a single read. */
  renew(): void {
    this.end()
    this.#number += 1
    this.#store.resetReadTxn()
  }
}
