import type { LmdbStore } from '../../lmdb/environment.ts'
import type { CounterBatch, Increment } from '../hot-state.ts'
import { decodeCounter, encodeCounter, windowAmounts, type Counter } from './counter-format.ts'
import { hotKey, keySpaces, partitionPart, textPart, timePart } from './hot-keys.ts'
import { setMissingMarks } from './marks.ts'
import { addToSlots, dayOfMinute, minuteOf } from './slot-format.ts'
import { fittingWindow, type SubjectRecord, type SubjectRecords } from './subject-record.ts'

export function readFence(store: LmdbStore, partition: Buffer): number {
  return store.getBinaryFast(hotKey(keySpaces.fence, partition))?.readUIntLE(0, 6) ?? 0
}

/** Call inside a write transaction. All reading and computing comes first: what throws there has changed nothing. */
export function applyBatch(
  store: LmdbStore,
  subjects: SubjectRecords,
  batch: CounterBatch,
): 'applied' | 'fenced' {
  const partition = partitionPart(batch.space, batch.partition)
  if (readFence(store, partition) !== batch.expectedOffset) return 'fenced'
  const changes = new BatchChanges(store, subjects, partition)
  for (const increment of batch.increments) changes.add(increment)
  changes.write()
  setMissingMarks(store, partition, batch.marks)
  const fence = Buffer.allocUnsafeSlow(6)
  fence.writeUIntLE(batch.nextOffset, 0, 6)
  store.putSync(hotKey(keySpaces.fence, partition), fence)
  return 'applied'
}

type SubjectChanges = {
  readonly part: Buffer
  readonly record: SubjectRecord
  readonly series: Map<string, Map<string, SeriesChanges>>
}

/** What changes of one series of a scope. */
type SeriesChanges = {
  readonly scopePart: Buffer
  readonly seriesPart: Buffer
  counter: { readonly key: Buffer; readonly amounts: Counter } | undefined
  readonly slots: Map<number, { readonly key: Buffer; bytes: Buffer }>
}

const noSlots = Buffer.alloc(0)

/** The counters and slots a batch touches: each is read once and written once. */
class BatchChanges {
  readonly #store: LmdbStore
  readonly #subjectRecords: SubjectRecords
  readonly #partition: Buffer
  readonly #subjects = new Map<string, SubjectChanges>()

  constructor(store: LmdbStore, subjectRecords: SubjectRecords, partition: Buffer) {
    this.#store = store
    this.#subjectRecords = subjectRecords
    this.#partition = partition
  }

  add({ subject: name, scope, series, second, amount }: Increment): void {
    const subject = this.#subject(name)
    if (scope !== '') {
      const window = fittingWindow(subject.record.get(scope)?.windows ?? [], second)
      if (window === undefined) this.#addToSlot(subject, scope, series, second, amount)
      else windowAmounts(this.#counter(subject, scope, series), window.id).scoped += amount
      return
    }
    for (const [eachScope, { windows }] of subject.record) {
      const window = fittingWindow(windows, second)
      if (window === undefined) continue
      windowAmounts(this.#counter(subject, eachScope, series), window.id).unscoped += amount
    }
    this.#addToSlot(subject, scope, series, second, amount)
  }

  write(): void {
    for (const { series } of this.#subjects.values()) {
      for (const ofScope of series.values()) {
        for (const { counter, slots } of ofScope.values()) {
          if (counter !== undefined)
            this.#store.putSync(counter.key, encodeCounter(counter.amounts))
          for (const { key, bytes } of slots.values()) this.#store.putSync(key, bytes)
        }
      }
    }
  }

  #subject(name: string): SubjectChanges {
    let subject = this.#subjects.get(name)
    if (subject === undefined) {
      const part = textPart(name)
      const record = this.#subjectRecords.read(hotKey(keySpaces.subject, this.#partition, part))
      subject = { part, record, series: new Map() }
      this.#subjects.set(name, subject)
    }
    return subject
  }

  #series(subject: SubjectChanges, scope: string, series: string): SeriesChanges {
    let ofScope = subject.series.get(scope)
    if (ofScope === undefined) {
      ofScope = new Map()
      subject.series.set(scope, ofScope)
    }
    let changes = ofScope.get(series)
    if (changes === undefined) {
      const scopePart = textPart(scope)
      changes = { scopePart, seriesPart: textPart(series), counter: undefined, slots: new Map() }
      ofScope.set(series, changes)
    }
    return changes
  }

  #counter(subject: SubjectChanges, scope: string, series: string): Counter {
    const changes = this.#series(subject, scope, series)
    if (changes.counter === undefined) {
      const { scopePart, seriesPart } = changes
      const key = hotKey(keySpaces.counter, this.#partition, subject.part, scopePart, seriesPart)
      changes.counter = { key, amounts: decodeCounter(this.#store.getBinary(key)) }
    }
    return changes.counter.amounts
  }

  #addToSlot(
    subject: SubjectChanges,
    scope: string,
    series: string,
    second: number,
    amount: bigint,
  ): void {
    const { scopePart, seriesPart, slots } = this.#series(subject, scope, series)
    const minute = minuteOf(second)
    let slot = slots.get(minute)
    if (slot === undefined) {
      const key = slotKey(this.#partition, subject.part, scopePart, seriesPart, minute)
      slot = { key, bytes: this.#store.getBinary(key) ?? noSlots }
      slots.set(minute, slot)
    }
    slot.bytes = addToSlots(slot.bytes, second, amount)
  }
}

/** The day stands first: the sweep goes by age, and folding visits a subject's days one by one. */
export function slotKey(
  partition: Buffer,
  subject: Buffer,
  scope: Buffer,
  series: Buffer,
  minute: number,
): Buffer {
  const day = timePart(dayOfMinute(minute))
  return hotKey(keySpaces.slot, partition, day, subject, scope, series, timePart(minute))
}
