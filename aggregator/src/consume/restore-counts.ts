import type {
  HotState,
  Mark,
  RestorePosition,
  RestoreStep,
  SlotLimits,
  Span,
} from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { subjectKey } from '@tollgate/schemas/subject'
import {
  listMarkShares,
  listSlices,
  readDailySums,
  readSecondSums,
  readStoredMarks,
  startOfDay,
  type Slice,
  type StoredRange,
  type UsageSum,
} from '../clickhouse/stored-usage.ts'
import type { Partition } from './partition-parts.ts'

export type RestoreParts = Partition & {
  readonly usageStore: UsageStore
  /** Whether hot state has the windows of all customers of the partition. */
  readonly isPublished: (at: Partition) => Promise<boolean>
}

export type RestorePlan = {
  /** The counts of every record with a smaller offset are made here. */
  readonly offset: number
  /** Idempotency keys of records received since then are known again, Unix milliseconds. */
  readonly marksSinceMs: number
  /** What waits for no window any more. */
  readonly slotLimits: SlotLimits
}

export type RestoreProgress = {
  readonly recordsDone: number
  readonly recordsTotal: number
  /** When given: there is nothing to do for so long. */
  readonly waitMs?: number
}

const publishedWaitMs = 200
const marksPerClaim = 5_000
const sumsPerStep = 2_000
/** Their names go in the address of the query, which may have a megabyte. */
const daysPerQuery = 200
/** And no more records than these, unless one day alone has them: it has 86,400 seconds at most. */
const recordsPerQuery = 200_000
/** A slice with one customer of many records may have more; its seconds are not held in memory together. */
const wholeSliceRecordsMax = 500_000

/**
 * Makes the counts of one partition again from ClickHouse, in pieces: each `next()` does one. The order of effects:
 *
 *   1. marks: each that is missing is set, to the offset it always had. Repeated or cut short, that changes nothing.
 *      They come with steps of the shadow, so that marks lost meanwhile end the restore.
 *   2. the note that marks are complete up to the offset, also with a step: it cannot come into a state that has lost
 *      them. From here on the sink goes on storing, so that the log's tail stays short, and what it claims itself lies
 *      behind the offset.
 *      Then it waits until the customers' windows are published again: what falls into none is kept for as long as a
 *      slot is, and a year's window reaches further back.
 *   3. sums into a shadow that nobody reads, day by day where a day lies in one window, else second by second.
 *   4. the shadow becomes the counts in use and the fence the offset, in one step. The projection goes on from there.
 *
 * Killed anywhere before 4, nothing that is in use has changed, and the next restore begins a shadow of its own; this
 * one's is dropped. Two that run at the same time do not add up: the one that began later fences the other.
 *
 * Sums and log meet at the offset exactly: ClickHouse has every record before it, and those behind it are left out.
 */
export async function* restoreCounts(
  parts: RestoreParts,
  plan: RestorePlan,
): AsyncGenerator<RestoreProgress, 'restored' | 'fenced'> {
  const { hotState, usageStore, environment, partition } = parts
  const range: StoredRange = { environment, partition, beforeOffset: plan.offset }
  const slices = await listSlices(usageStore, range)
  const progress = new Progress(slices)
  const token = await hotState.beginRestore(environment, partition)
  const shadow = new Shadow(hotState, { space: environment, partition, token }, plan.slotLimits)
  for (const slice of slices) {
    for (const share of await listMarkShares(usageStore, range, slice, plan.marksSinceMs)) {
      const marks = await readStoredMarks(usageStore, range, slice, plan.marksSinceMs, share)
      for (const some of chunks(marks, marksPerClaim)) {
        if ((await shadow.mark(some)) === 'fenced') return 'fenced'
        yield progress.now
      }
    }
    progress.add(slice)
  }
  if ((await shadow.completeMarks(plan.offset)) === 'fenced') return 'fenced'
  while (!(await parts.isPublished(parts))) {
    if ((await shadow.confirm()) === 'fenced') return 'fenced'
    yield { ...progress.now, waitMs: publishedWaitMs }
  }

  for (const slice of slices) {
    const daily = await readDailySums(usageStore, range, slice)
    const left: UsageSum[] = []
    for (const some of chunks(daily, sumsPerStep)) {
      const notTaken = await shadow.add(slice, some)
      if (notTaken === 'fenced') return 'fenced'
      for (const index of notTaken.cut) left.push(some[index]!)
      for (const index of notTaken.outside) {
        if (some[index]!.lastSecond >= plan.slotLimits.slotsBeforeSecond) left.push(some[index]!)
      }
      yield progress.now
    }
    for await (const seconds of readSeconds(usageStore, range, slice, left)) {
      for (const some of chunks(seconds, sumsPerStep)) {
        if ((await shadow.add(slice, some)) === 'fenced') return 'fenced'
        yield progress.now
      }
    }
    progress.add(slice)
  }
  return await shadow.finish(plan.offset)
}

/** The seconds of these days: asked for by name while they are few, else picked from those of the whole slice. */
async function* readSeconds(
  store: UsageStore,
  range: StoredRange,
  slice: Slice,
  daily: readonly UsageSum[],
): AsyncGenerator<readonly UsageSum[]> {
  if (daily.length <= daysPerQuery || slice.recordsTotal > wholeSliceRecordsMax) {
    for (const days of daysOfQueries(daily)) yield await readSecondSums(store, range, slice, days)
    return
  }
  const wanted = new Set(daily.map(nameOfDay))
  const seconds = await readSecondSums(store, range, slice, 'all')
  yield seconds.filter((sum) => wanted.has(nameOfDay(sum)))
}

function* daysOfQueries(daily: readonly UsageSum[]): Generator<readonly UsageSum[]> {
  let days: UsageSum[] = []
  let records = 0
  for (const day of daily) {
    if (
      days.length === daysPerQuery ||
      (days.length > 0 && records + day.records > recordsPerQuery)
    ) {
      yield days
      days = []
      records = 0
    }
    days.push(day)
    records += day.records
  }
  if (days.length > 0) yield days
}

function nameOfDay({ customerRef, productRef, fromSecond }: UsageSum): string {
  return JSON.stringify([customerRef, productRef, startOfDay(fromSecond)])
}

type NotTaken = Exclude<Awaited<ReturnType<HotState['restore']>>, 'fenced'>

type ShadowName = { readonly space: string; readonly partition: number; readonly token: string }

class Shadow {
  readonly #hotState: HotState
  readonly #of: ShadowName
  readonly #slotLimits: SlotLimits
  #step = 0

  constructor(hotState: HotState, of: ShadowName, slotLimits: SlotLimits) {
    this.#hotState = hotState
    this.#of = of
    this.#slotLimits = slotLimits
  }

  async add(slice: Slice, sums: readonly UsageSum[]): Promise<NotTaken | 'fenced'> {
    const spans = sums.map((sum) => spanOf(slice, sum))
    return await this.#take({ spans, slotLimits: this.#slotLimits })
  }

  async mark(marks: readonly Mark[]): Promise<NotTaken | 'fenced'> {
    return await this.#take({ marks })
  }

  async completeMarks(markedOffset: number): Promise<NotTaken | 'fenced'> {
    return await this.#take({ markedOffset })
  }

  /** Whatever loses what was written before loses the step too: 'fenced' from the next one on. */
  async confirm(): Promise<NotTaken | 'fenced'> {
    return await this.#take({})
  }

  async #take(step: Omit<RestoreStep, keyof RestorePosition>): Promise<NotTaken | 'fenced'> {
    return await this.#hotState.restore({ ...this.#of, step: this.#step++, ...step })
  }

  async finish(nextOffset: number): Promise<'restored' | 'fenced'> {
    return await this.#hotState.finishRestore({ ...this.#of, step: this.#step, nextOffset })
  }
}

function spanOf({ providerId, meterName }: Slice, sum: UsageSum): Span {
  const { customerRef, productRef, fromSecond, lastSecond, amount } = sum
  const subject = subjectKey(providerId, customerRef)
  return { subject, scope: productRef, series: meterName, fromSecond, lastSecond, amount }
}

/** Every record is gone through twice: for its mark and for its amount. */
class Progress {
  readonly #recordsTotal: number
  #recordsDone = 0

  constructor(slices: readonly Slice[]) {
    this.#recordsTotal = 2 * slices.reduce((sum, { recordsTotal }) => sum + recordsTotal, 0)
  }

  get now(): RestoreProgress {
    return { recordsDone: this.#recordsDone, recordsTotal: this.#recordsTotal }
  }

  add({ recordsTotal }: Slice): void {
    this.#recordsDone += recordsTotal
  }
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}
