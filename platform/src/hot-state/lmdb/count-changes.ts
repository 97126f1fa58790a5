import type { LmdbStore } from '../../lmdb/environment.ts'
import type { Increment, Span } from '../hot-state.ts'
import { decodeCounter, encodeCounter, windowAmounts, type Counter } from './counter-format.ts'
import { hotKey, keySpaces, textPart, timePart } from './hot-keys.ts'
import { countsPart } from './partition-head.ts'
import { addToSlots, dayOfMinute, minuteOf } from './slot-format.ts'
import { fittingWindow, type SubjectRecord, type SubjectRecords } from './subject-record.ts'

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

/** The counters and slots of some counts that a batch touches: each is read once and written once. */
export class CountChanges {
  readonly #store: LmdbStore
  readonly #subjectRecords: SubjectRecords
  readonly #partition: Buffer
  readonly #counts: Buffer
  readonly #subjects = new Map<string, SubjectChanges>()

  constructor(store: LmdbStore, subjectRecords: SubjectRecords, partition: Buffer, counts: number) {
    this.#store = store
    this.#subjectRecords = subjectRecords
    this.#partition = partition
    this.#counts = countsPart(partition, counts)
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

  /** Adds a span of more than one second where it lies in one window; else tells why it does not. */
  addSpan(span: Span): 'taken' | 'cut' | 'outside' {
    const { scope, series, fromSecond, lastSecond, amount } = span
    const subject = this.#subject(span.subject)
    const records = scope === '' ? [...subject.record.values()] : [subject.record.get(scope)]
    const touched = records
      .flatMap((record) => record?.windows ?? [])
      .filter((window) => window.fromSecond <= lastSecond && fromSecond < window.toSecond)
    const [window] = touched
    if (window === undefined) return 'outside'
    const isWhole = window.fromSecond <= fromSecond && lastSecond < window.toSecond
    if (scope === '' || touched.length > 1 || !isWhole) return 'cut'
    windowAmounts(this.#counter(subject, scope, series), window.id).scoped += amount
    return 'taken'
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
      const key = hotKey(keySpaces.counter, this.#counts, subject.part, scopePart, seriesPart)
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
      const key = slotKey(this.#counts, subject.part, scopePart, seriesPart, minute)
      slot = { key, bytes: this.#store.getBinary(key) ?? noSlots }
      slots.set(minute, slot)
    }
    slot.bytes = addToSlots(slot.bytes, second, amount)
  }
}

/** The day stands first: the sweep goes by age, and folding visits a subject's days one by one. */
function slotKey(
  counts: Buffer,
  subject: Buffer,
  scope: Buffer,
  series: Buffer,
  minute: number,
): Buffer {
  const day = timePart(dayOfMinute(minute))
  return hotKey(keySpaces.slot, counts, day, subject, scope, series, timePart(minute))
}
