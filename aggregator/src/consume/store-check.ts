import { randomUUID } from 'node:crypto'
import { readStoreIncarnation } from '@tollgate/domain/stored-usage/store-incarnation'
import { isSamePosition, type GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import {
  firstNote,
  moveBackIn,
  readSinkNote,
  withGeneration,
  writeSinkNote,
  type SinkNote,
} from '@tollgate/schemas/sink-note'
import { readStoredEnd } from '../clickhouse/stored-batch.ts'
import { readTotalsEnd } from '../clickhouse/usage-totals.ts'
import { findMissing } from './find-missing.ts'
import type { SinkParts } from './sink-parts.ts'

/** `position` is the current position in the log's consumer group. */
export type Checked = {
  readonly position: GroupPosition
  /** The offset that the position was moved back to, because ClickHouse lacks records before the position. */
  readonly movedBackTo?: number
}

/** Milliseconds between two reads of the incarnation while a partition has no new records. */
const idleCheckMs = 2_000

/**
 * Compares the store with the log when this process starts and whenever the store has another incarnation: an older
 * copy may have replaced it, or a power cut may have lost rows (see docs/decisions/clickhouse.md, The store is compared with the
 * log). If rows are missing, the position moves back in one commit together
 * with its note, and the sink stores those records again. A crash before the commit leaves nothing changed; after it, the sink
 * continues from there.
 *
 * The comparison also runs while a batch is open: its redo needs marks, lost marks are rebuilt together with the counts, and the
 * rebuild waits for this comparison.
 */
export class StoreCheck {
  readonly #parts: SinkParts
  readonly #logger: Logger
  /** The incarnation that this process has compared. */
  #compared: string | undefined
  #checkedAtMs = -Infinity

  constructor(parts: SinkParts, logger: Logger) {
    this.#parts = parts
    this.#logger = logger
  }

  /** Called before each batch (`isDue`). Otherwise it reads the incarnation at most every 2 s. */
  async check(position: GroupPosition, isDue: boolean): Promise<Checked> {
    const nowMs = performance.now()
    if (!isDue && nowMs - this.#checkedAtMs < idleCheckMs) return { position }
    const { usageStore, environment } = this.#parts
    const incarnation = await nameStoreIncarnation(usageStore, environment)
    this.#checkedAtMs = nowMs
    if (incarnation === this.#compared) return { position }
    const checked = await this.#compare(position, incarnation)
    if (readSinkNote(checked.position.note)?.comparedIncarnation === incarnation)
      this.#compared = incarnation
    return checked
  }

  async #compare(position: GroupPosition, incarnation: string): Promise<Checked> {
    const note = readSinkNote(position.note)
    if (note === undefined) return await this.#begin(position, incarnation)
    const { offset } = position
    const openTo = note.state === 'open' ? note.openTo : undefined
    const missingFrom = await findMissing(this.#parts, offset, openTo)
    if (missingFrom === undefined) {
      // In another incarnation, neither tokens nor rows of an open batch can be trusted, so its redo compares them.
      const storeAgainTo = openTo && Math.max(openTo, note.storeAgainTo ?? 0)
      const next = openTo === undefined ? note : { ...note, storeAgainTo }
      const generation = await this.#generationAt(offset, note)
      return { position: await this.#commit(position, { ...next, generation }, incarnation) }
    }
    const { partition } = this.#parts
    const found = { partition, storedOffset: offset, missingFrom }
    this.#logger.error(found, 'ClickHouse lost stored records: they are stored again from the log')
    await this.#reportTrimmed(missingFrom)
    return {
      position: await this.#commit(position, moveBackIn(note, offset), incarnation, missingFrom),
      movedBackTo: missingFrom,
    }
  }

  /**
   * Creates the note of a partition without one: either no sink has stored a record of it, or the position was lost and some of its
   * records are already stored.
   */
  async #begin(position: GroupPosition, incarnation: string): Promise<Checked> {
    const { log, topic, partition, usageStore, newLineage } = this.#parts
    const head = await log.head(topic, partition)
    if (head === 0) return { position }
    const end = await readStoredEnd(usageStore, this.#parts, head)
    const note = { ...firstNote(newLineage()), storeAgainTo: end === 0 ? undefined : end }
    const offset = Math.max(position.offset, await log.oldest(topic, partition))
    return { position: await this.#commit(position, note, incarnation, offset) }
  }

  async #commit(
    position: GroupPosition,
    note: SinkNote,
    incarnation: string,
    offset = position.offset,
  ): Promise<GroupPosition> {
    const { log, topic, partition, newLineage } = this.#parts
    const named = withGeneration({ ...note, comparedIncarnation: incarnation }, newLineage)
    const next = { offset, note: writeSinkNote(named) }
    if (!isSamePosition(next, position)) {
      await log.commit(sinkGroup, topic, partition, position, next)
    }
    return next
  }

  /**
   * Returns the generation of the rows below the position. If totals of it reach beyond the position, the position was restored from
   * an older copy. The log may be older too, so that other records may follow at the same offsets: these totals are not used.
   */
  async #generationAt(offset: number, { generation }: SinkNote): Promise<string | undefined> {
    if (generation === undefined) return undefined
    const { usageStore, environment, partition } = this.#parts
    const end = await readTotalsEnd(usageStore, environment, partition, generation)
    return end > offset ? undefined : generation
  }

  /** Logs an error if the copy of ClickHouse ends before the log begins: the records in between are lost. */
  async #reportTrimmed(missingFrom: number): Promise<void> {
    const { log, topic, partition, usageStore } = this.#parts
    const oldest = await log.oldest(topic, partition)
    if (missingFrom > oldest || oldest === 0) return
    const end = await readStoredEnd(usageStore, this.#parts, oldest)
    if (end === oldest) return
    const lost = { partition, storedEnd: end, oldest }
    this.#logger.error(
      lost,
      'ClickHouse lost records that the log no longer has: restore a newer copy of ClickHouse',
    )
  }
}

const idColumn: Column<string> = { name: 'id', type: 'String', value: (id) => id }

/**
 * Returns the name of the store's incarnation, and stores a new name if there is none. If two sinks do so at the same time, both
 * use the smaller name.
 */
export async function nameStoreIncarnation(
  store: UsageStore,
  environment: Environment,
): Promise<string> {
  const known = await readStoreIncarnation(store, environment)
  if (known !== undefined) return known
  const id = randomUUID()
  await store.insert(`${environment}.store_life`, [idColumn], [id], id)
  const incarnation = await readStoreIncarnation(store, environment)
  if (incarnation === undefined)
    throw new Error(`ClickHouse acknowledged the name of its incarnation, but does not return it`)
  return incarnation
}
