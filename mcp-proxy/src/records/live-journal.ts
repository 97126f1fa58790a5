import { join } from 'node:path'
import type { Logger } from '@tollgate/platform/observability/logger'
import { journalFolderName } from './adopt.ts'
import { settledUse, type CallRecord } from './call-record.ts'
import type { Delivery } from './delivery.ts'
import { Journal, type JournalLimits } from './journal.ts'
import { claimFolder, touchOwner } from './owner.ts'

export type LiveJournalParts = {
  /** Holds the folders of all processes. */
  readonly root: string
  /** No other process has it. */
  readonly id: string
  readonly limits: JournalLimits
  readonly openDelivery: (journal: Journal) => Delivery
  /** Another process delivers what was in the journal so far. */
  readonly onLost: () => void
  /** A record of the lost journal is about to be in the new one too. */
  readonly onCarriedOver: (record: CallRecord) => void
  readonly logger: Logger
}

/**
 * The journal that this process writes, and its delivery. A process that was paused may find that another one has taken its folder
 * over. It goes on in a new folder, to which it copies what the other one may not have seen. Ingest knows the keys of records that
 * are delivered by both.
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

  /** Never throws. The record is in a folder of this process, or waits for the disk. */
  append(record: CallRecord): void {
    this.#journal.append(record)
    this.replaceIfLost()
  }

  /** Tells processes on other hosts that this one lives. Throws if the disk is away. */
  touch(): void {
    if (this.#journal.checkFolder()) touchOwner(this.#journal.folder)
    this.replaceIfLost()
  }

  /** Where no new folder can be made, records wait in memory, no call is admitted, and the next look tries again. */
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
