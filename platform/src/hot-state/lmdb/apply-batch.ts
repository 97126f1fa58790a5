import type { LmdbStore } from '../../lmdb/environment.ts'
import type { CounterBatch, Increment } from '../hot-state.ts'
import { decodeCounter, encodeCounter, windowAmounts, type Counter } from './counter-format.ts'
import { hotKey, keySpaces, partitionPart, textPart, timePart } from './hot-keys.ts'
import { setMissingMarks } from './marks.ts'
import { dayOfMinute, decodeSlots, encodeSlots, minuteOf, type SlotMinute } from './slot-format.ts'
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

type Slots = { readonly key: Buffer; readonly minute: number; readonly slots: SlotMinute }

/** The counters and slots a batch touches, read once and written once. */
class BatchChanges {
  readonly #store: LmdbStore
  readonly #subjects: SubjectRecords
  readonly #partition: Buffer
  readonly #records = new Map<string, { readonly part: Buffer; readonly record: SubjectRecord }>()
  readonly #counters = new Map<string, { readonly key: Buffer; readonly counter: Counter }>()
  readonly #slots = new Map<string, Slots>()

  constructor(store: LmdbStore, subjects: SubjectRecords, partition: Buffer) {
    this.#store = store
    this.#subjects = subjects
    this.#partition = partition
  }

  add({ subject, scope, series, second, amount }: Increment): void {
    const { part, record } = this.#subject(subject)
    if (scope !== '') {
      const window = fittingWindow(record.get(scope)?.windows ?? [], second)
      if (window === undefined) this.#addToSlot(part, scope, series, second, amount)
      else windowAmounts(this.#counter(part, scope, series), window.id).scoped += amount
      return
    }
    for (const [eachScope, { windows }] of record) {
      const window = fittingWindow(windows, second)
      if (window === undefined) continue
      windowAmounts(this.#counter(part, eachScope, series), window.id).unscoped += amount
    }
    this.#addToSlot(part, scope, series, second, amount)
  }

  write(): void {
    for (const { key, counter } of this.#counters.values()) {
      this.#store.putSync(key, encodeCounter(counter))
    }
    for (const { key, minute, slots } of this.#slots.values()) {
      this.#store.putSync(key, encodeSlots(slots, minute))
    }
  }

  #subject(subject: string) {
    let found = this.#records.get(subject)
    if (found === undefined) {
      const part = textPart(subject)
      const record = this.#subjects.read(hotKey(keySpaces.subject, this.#partition, part))
      found = { part, record }
      this.#records.set(subject, found)
    }
    return found
  }

  #counter(subject: Buffer, scope: string, series: string): Counter {
    const key = hotKey(
      keySpaces.counter,
      this.#partition,
      subject,
      textPart(scope),
      textPart(series),
    )
    const name = key.toString('latin1')
    let found = this.#counters.get(name)
    if (found === undefined) {
      found = { key, counter: decodeCounter(this.#store.getBinary(key)) }
      this.#counters.set(name, found)
    }
    return found.counter
  }

  #addToSlot(subject: Buffer, scope: string, series: string, second: number, amount: bigint): void {
    const minute = minuteOf(second)
    const key = slotKey(this.#partition, subject, textPart(scope), textPart(series), minute)
    const name = key.toString('latin1')
    let found = this.#slots.get(name)
    if (found === undefined) {
      found = { key, minute, slots: decodeSlots(this.#store.getBinary(key), minute) }
      this.#slots.set(name, found)
    }
    found.slots.set(second, (found.slots.get(second) ?? 0n) + amount)
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
