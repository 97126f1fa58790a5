import { randomUUID } from 'node:crypto'
import { totalsStampOf, type TotalledPart } from '@tollgate/domain/stored-usage/totalled-ranges'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { firstNote, writeSinkNote, type SinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { nameStoreIncarnation } from '../src/consume/store-check.ts'
import { stepTotals, type TotalsParts, type TotalsStep } from '../src/consume/step-totals.ts'
import { usageColumns } from '../src/domain/usage-rows.ts'
import type { EventRecord } from '../src/domain/decoded-batch.ts'
import { interrupted, ProcessDied, type Interruption } from './interrupted.ts'
import type { LogAndStore } from './log-and-store.ts'

const topic = usageTopic('sandbox')

/** One partition whose rows and positions a test writes in place of the sink. */
export class TotalledPartition {
  readonly partition: number
  isVerifyDue = false
  readonly #of: LogAndStore
  readonly #rangeRecords: number

  constructor(of: LogAndStore, rangeRecords: number) {
    this.#of = of
    this.#rangeRecords = rangeRecords
    this.partition = of.newPartition()
  }

  get store(): UsageStore {
    return this.#of.clickhouse.store
  }

  async insert(rows: readonly EventRecord[]): Promise<void> {
    if (rows.length === 0) return
    const columns = usageColumns(this.partition)
    await this.store.insert('sandbox.usage_records', columns, rows, randomUUID())
  }

  /** Moves the sink's position, with a note of the current incarnation. */
  async moveTo(offset: number, changed: Partial<SinkNote> = {}): Promise<void> {
    const { log } = this.#of
    const comparedIncarnation = await nameStoreIncarnation(this.store, 'sandbox')
    const named = { ...firstNote('lineage'), generation: 'first', comparedIncarnation }
    const note = writeSinkNote({ ...named, ...changed } as SinkNote)
    const before = await log.position(sinkGroup, topic, this.partition)
    await log.commit(sinkGroup, topic, this.partition, before, { offset, note })
  }

  /** Makes one step in a new process, which may die. */
  async step(
    interruption?: Interruption,
    meanwhile?: () => Promise<void>,
  ): Promise<TotalsStep['kind'] | 'died'> {
    const counter = { calls: 0 }
    const others = meanwhile ?? (async () => void (await this.finish()))
    const parts: TotalsParts = {
      log: interrupted<EventLog>(this.#of.log, counter, interruption, others),
      usageStore: interrupted(this.store, counter, interruption, others),
      cluster: undefined,
      environment: 'sandbox',
      topic,
      partition: this.partition,
      rangeRecords: this.#rangeRecords,
      isVerifyDue: this.isVerifyDue,
    }
    try {
      return (await stepTotals(parts)).kind
    } catch (error) {
      if (error instanceof ProcessDied) return 'died'
      throw error
    }
  }

  /** Makes steps until nothing is left to do. Returns how many made totals. */
  async finish(): Promise<number> {
    for (let made = 0; ;) {
      const kind = await this.step()
      if (kind === 'complete' || kind === 'unsettled') return made
      if (kind === 'totalled') made += 1
    }
  }

  /** Returns the part up to the offset as readers see it. Rows of a part without a stamp are read one by one. */
  async part(beforeOffset: number, withTotals = true): Promise<TotalledPart> {
    const { note } = await this.#of.log.position(sinkGroup, topic, this.partition)
    const { partition } = this
    return withTotals
      ? { partition, beforeOffset, totals: totalsStampOf(note) }
      : { partition, beforeOffset }
  }
}
