import { join } from 'node:path'
import type { Logger } from '@tollgate/platform/observability/logger'
import { journalFolderName } from './adopt.ts'
import { settledUse, type CallRecord } from './call-record.ts'
import type { Delivery } from './delivery.ts'
import { Journal, type JournalLimits } from './journal.ts'
import { claimFolder, touchOwner } from './owner.ts'

export type LiveJournalParts = {
  /** Folder that contains the journal folders of all processes. */
  readonly root: string
  /** Unique id of this process. */
  readonly id: string
  readonly limits: JournalLimits
  readonly openDelivery: (journal: Journal) => Delivery
  /** Called when another process has taken over the records that were in the journal. */
  readonly onLost: () => void
  /** Called before a record of the lost journal is appended to the new one. */
  readonly onCarriedOver: (record: CallRecord) => void
  readonly logger: Logger
}

/**
 * The journal that this process writes, and its delivery. After a pause, a process may find that another one has taken its folder
 * over. It continues in a new folder, to which it copies the records that the other process may not have read. Some records are
 * then delivered by both, and ingest deduplicates them by key.
 */
export class LiveJournal {
  readonly #parts: LiveJournalParts
  #generation = 0
  #journal: Journal
  #delivery: Delivery

  constructor(parts: LiveJournalParts) {
    this.#parts = parts
    this.#journal = this.#openJournal(0)
    this.#delivery = parts.openDelivery(this.#journal)
  }

  get journal(): Journal {
    this.replaceIfLost()
    return this.#journal
  }

  get delivery(): Delivery {
    return this.#delivery
  }

  /** Appends a record to a folder of this process, or keeps it in memory until the disk accepts it. Never throws. */
  append(record: CallRecord): void {
    this.#journal.append(record)
    this.replaceIfLost()
  }

  /** Shows processes on other hosts that this process is alive. Throws if the disk is not available. */
  touch(): void {
    if (this.#journal.checkFolder()) touchOwner(this.#journal.folder)
    this.replaceIfLost()
  }

  /**
   * Replaces a journal whose folder was taken over. If no new folder can be created, records are kept in memory, no call is
   * admitted, and the next check tries again.
   */
  replaceIfLost(): void {
    if (!this.#journal.isLost) return
    const { logger, openDelivery, onLost, onCarriedOver } = this.#parts
    const lost = this.#journal
    try {
      this.#journal = this.#openJournal(lost.promisedBytes)
    } catch (error) {
      logger.error({ err: error }, 'no folder can be made for the journal of calls')
      return
    }
    this.#delivery.abandon()
    this.#delivery = openDelivery(this.#journal)
    lost.close()
    onLost()
    const records = lost.leftBehind().map(settledUse)
    for (const record of records) {
      onCarriedOver(record)
      this.append(record)
    }
    this.#delivery.wake()
    const { folder } = lost
    logger.warn(
      { folder, copied: records.length },
      'another process has taken over the journal of calls, since this one was paused',
    )
  }

  #openJournal(promisedBytes: number): Journal {
    const { root, id, limits } = this.#parts
    const folder = join(root, journalFolderName(`${id}-${this.#generation++}`))
    const journal = new Journal(folder, limits, promisedBytes)
    claimFolder(folder)
    return journal
  }
}
