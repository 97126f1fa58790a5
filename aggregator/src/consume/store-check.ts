import { randomUUID } from 'node:crypto'
import { readStoreIncarnation } from '@tollgate/domain/stored-usage/store-incarnation'
import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import {
  firstNote,
  moveBackIn,
  readSinkNote,
  writeSinkNote,
  type SinkNote,
} from '@tollgate/schemas/sink-note'
import { readStoredEnd } from '../clickhouse/stored-batch.ts'
import { findMissing } from './find-missing.ts'
import type { SinkParts } from './sink-parts.ts'

/** `position` is what the log has now. */
export type Checked = {
  readonly position: GroupPosition
  /** The offset that the position was moved back to, because ClickHouse lacks records that lay before the position. */
  readonly movedBackTo?: number
}

/** How often the incarnation is read while a partition has no new records. */
const idleCheckMs = 2_000

/**
 * Compares the store with the log when this process starts, and whenever the store is in another incarnation: an older copy
 * may have replaced it, or a power cut may have taken rows (see docs/decisions/clickhouse.md, The store is compared with the
 * log). Where rows are missing, the position goes back, in one commit with the note that says so. The sink then stores those
 * records again. If it is killed before the commit, nothing has changed; after it, the sink continues from there.
 *
 * Also while a batch is open: its redo needs marks, lost marks come back with the counts, and these wait until ClickHouse is
 * compared.
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

  /** Called before each batch (`isDue`); otherwise it reads the incarnation every two seconds at most. */
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
      // Neither tokens nor rows of an open batch can be trusted in another incarnation, so its redo compares them.
      const storeAgainTo = openTo && Math.max(openTo, note.storeAgainTo ?? 0)
      const next = openTo === undefined ? note : { ...note, storeAgainTo }
      return { position: await this.#commit(position, next, incarnation) }
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
   * Begins the note of a partition that has none: either no sink has stored anything of it, or the position was lost and
   * some of its records are stored already.
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
    const { log, topic, partition } = this.#parts
    const next = { offset, note: writeSinkNote({ ...note, comparedIncarnation: incarnation }) }
    if (next.note !== position.note || next.offset !== position.offset) {
      await log.commit(sinkGroup, topic, partition, position, next)
    }
    return next
  }

  /** Logs an error if the copy is older than the log: the records between the two are nowhere. */
  async #reportTrimmed(missingFrom: number): Promise<void> {
    const { log, topic, partition, usageStore } = this.#parts
    const oldest = await log.oldest(topic, partition)
    if (missingFrom > oldest || oldest === 0) return
    const end = await readStoredEnd(usageStore, this.#parts, oldest)
    if (end === oldest) return
    const gone = { partition, storedEnd: end, oldest }
    this.#logger.error(
      gone,
      'ClickHouse lost records that the log no longer has: restore a newer copy of ClickHouse',
    )
  }
}

const idColumn: Column<string> = { name: 'id', type: 'String', value: (id) => id }

/** Returns the name of the incarnation, and gives it one if no sink has. Two sinks that do so at once both use the smaller name. */
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
    throw new Error(`ClickHouse does not keep the name of its incarnation`)
  return incarnation
}
