import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { bucketAt, oldestKeptBucket } from '../buckets.ts'
import type { Increment, SlotLimits, Span } from '../hot-state.ts'
import type { StoredForm } from './bucket-forms.ts'
import { bucketKey, BucketList } from './bucket-list.ts'
import { decodeCounter, encodeCounter, windowAmounts, type Counter } from './counter-format.ts'
import { hotKey, keySpaces, textPart, timePart } from './hot-keys.ts'
import { countsPart } from './partition-head.ts'
import { settledBefore } from './settled-slots.ts'
import { addToSlots, dayOfMinute, minuteOf, secondsPerSlotKey } from './slot-format.ts'
import {
  fittingWindow,
  type ScopeRecord,
  type SubjectRecord,
  type SubjectRecords,
} from './subject-record.ts'

type SubjectChanges = {
  readonly part: Buffer
  readonly record: SubjectRecord
  /** Second before which the slots of a scope are settled, by scope. */
  readonly settledBefore: Map<string, number>
  readonly series: Map<string, Map<string, SeriesChanges>>
}

/** Changes of one series of a scope. */
type SeriesChanges = {
  readonly scopePart: Buffer
  readonly seriesPart: Buffer
  counter: { readonly key: Buffer; readonly amounts: Counter } | undefined
  readonly slots: Map<number, { readonly key: Buffer; bytes: Buffer }>
  /** By name of the form. */
  buckets: Map<string, BucketList> | undefined
}

const noSlots = Buffer.alloc(0)
const noScope: Pick<ScopeRecord, 'windows' | 'forms'> = { windows: [], forms: [] }

/** The changes of a batch to counters, buckets and slots. Each of them is read once and written once. */
export class CountChanges {
  readonly #store: LmdbStore
  readonly #subjectRecords: SubjectRecords
  readonly #partition: Buffer
  readonly #counts: Buffer
  readonly #slotLimits: SlotLimits | undefined
  readonly #subjects = new Map<string, SubjectChanges>()
  readonly #nowSecond = Math.floor(Date.now() / 1_000)

  /** With `slotLimits`, nothing is added to slots that they settle. */
  constructor(
    store: LmdbStore,
    subjectRecords: SubjectRecords,
    partition: Buffer,
    counts: number,
    slotLimits?: SlotLimits,
  ) {
    this.#store = store
    this.#slotLimits = slotLimits
    this.#subjectRecords = subjectRecords
    this.#partition = partition
    this.#counts = countsPart(partition, counts)
  }

  add({ subject: name, scope, series, second, amount }: Increment): void {
    const subject = this.#subject(name)
    if (scope !== '') {
      const { windows, forms } = subject.record.get(scope) ?? noScope
      const window = fittingWindow(windows, second)
      let isWaiting = false
      if (window === undefined) isWaiting = this.#addToSlot(subject, scope, series, second, amount)
      else windowAmounts(this.#counter(subject, scope, series), window.id).scoped += amount
      this.#addToBuckets(subject, scope, series, forms, second, amount, isWaiting)
      return
    }
    const isWaiting = this.#addToSlot(subject, scope, series, second, amount)
    for (const [eachScope, { windows, forms }] of subject.record) {
      const window = fittingWindow(windows, second)
      if (window !== undefined) {
        windowAmounts(this.#counter(subject, eachScope, series), window.id).unscoped += amount
      }
      this.#addToBuckets(subject, eachScope, series, forms, second, amount, isWaiting)
    }
  }

  /** Adds a span of more than one second if one window of each scope contains it; otherwise returns the reason why not. */
  addSpan(span: Span): 'taken' | 'cut' | 'outside' {
    const { scope, series, fromSecond, lastSecond, amount } = span
    const subject = this.#subject(span.subject)
    const fits: { readonly scope: string; readonly id: string }[] = []
    const fitting: { readonly scope: string; readonly forms: StoredForm[] }[] = []
    let isCut = false
    for (const [each, { windows, isUnfinished, forms }] of subject.record) {
      if (scope !== '' && scope !== each) continue
      const touched = windows.filter(
        (window) => window.fromSecond <= lastSecond && fromSecond < window.toSecond,
      )
      const [window] = touched
      const kept = forms.filter(
        (form) => bucketAt(form, lastSecond) >= oldestKeptBucket(form, this.#nowSecond),
      )
      if (kept.length > 0) fitting.push({ scope: each, forms: kept })
      isCut ||= kept.some((form) => !isOfOneBucket(form, span))
      // During an unfinished publication, any window may still be extended.
      isCut ||= isUnfinished || touched.length > 1
      if (window === undefined) continue
      isCut ||= window.fromSecond > fromSecond || window.toSecond <= lastSecond
      fits.push({ scope: each, id: window.id })
    }
    if (isCut) return 'cut'
    if (fits.length === 0) return fitting.length === 0 ? 'outside' : 'cut'
    if (scope === '' && !this.#isSettled(subject, scope, lastSecond)) return 'cut'
    for (const { scope: each, id } of fits) {
      windowAmounts(this.#counter(subject, each, series), id)[kindOf(scope)] += amount
    }
    for (const { scope: each, forms } of fitting) {
      this.#addToBuckets(subject, each, series, forms, fromSecond, amount, false)
    }
    return 'taken'
  }

  write(): void {
    for (const { series } of this.#subjects.values()) {
      for (const ofScope of series.values()) {
        for (const { counter, slots, buckets } of ofScope.values()) {
          if (counter !== undefined)
            this.#store.putSync(counter.key, encodeCounter(counter.amounts))
          for (const { key, bytes } of slots.values()) this.#store.putSync(key, bytes)
          if (buckets === undefined) continue
          for (const list of buckets.values()) list.write(this.#store)
        }
      }
    }
  }

  #subject(name: string): SubjectChanges {
    let subject = this.#subjects.get(name)
    if (subject === undefined) {
      const part = textPart(name)
      const record = this.#subjectRecords.read(hotKey(keySpaces.subject, this.#partition, part))
      subject = { part, record, settledBefore: new Map(), series: new Map() }
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
      changes = {
        scopePart,
        seriesPart: textPart(series),
        counter: undefined,
        slots: new Map(),
        buckets: undefined,
      }
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

  /** Returns whether the minute of that second is already settled. */
  #isSettled(subject: SubjectChanges, scope: string, second: number): boolean {
    if (this.#slotLimits === undefined) return false
    let settled = subject.settledBefore.get(scope)
    if (settled === undefined) {
      settled = settledBefore(subject.record, textPart(scope), this.#slotLimits)
      subject.settledBefore.set(scope, settled)
    }
    return (minuteOf(second) + 1) * secondsPerSlotKey <= settled
  }

  /** `isWaiting`: the usage is in a slot, so that a publication that still fills a form may find it there. */
  #addToBuckets(
    subject: SubjectChanges,
    scope: string,
    series: string,
    forms: readonly StoredForm[],
    second: number,
    amount: bigint,
    isWaiting: boolean,
  ): void {
    for (const form of forms) {
      if (isWaiting && second >= form.filledTo) continue
      const changes = this.#series(subject, scope, series)
      const { scopePart, seriesPart } = changes
      const buckets = (changes.buckets ??= new Map<string, BucketList>())
      let list = buckets.get(form.name)
      if (list === undefined) {
        const key = bucketKey(this.#counts, subject.part, scopePart, seriesPart, form.name)
        list = new BucketList(key, form, this.#nowSecond)
        buckets.set(form.name, list)
      }
      list.add(second, amount)
    }
  }

  /** Returns whether the slot has the amount; a settled one gets none. */
  #addToSlot(
    subject: SubjectChanges,
    scope: string,
    series: string,
    second: number,
    amount: bigint,
  ): boolean {
    if (this.#isSettled(subject, scope, second)) return false
    const { scopePart, seriesPart, slots } = this.#series(subject, scope, series)
    const minute = minuteOf(second)
    let slot = slots.get(minute)
    if (slot === undefined) {
      const key = slotKey(this.#counts, subject.part, scopePart, seriesPart, minute)
      slot = { key, bytes: this.#store.getBinary(key) ?? noSlots }
      slots.set(minute, slot)
    }
    slot.bytes = addToSlots(slot.bytes, second, amount)
    return true
  }
}

function isOfOneBucket(form: StoredForm, { fromSecond, lastSecond }: Span): boolean {
  return form.filledTo === Infinity && bucketAt(form, fromSecond) === bucketAt(form, lastSecond)
}

function kindOf(scope: string): 'scoped' | 'unscoped' {
  return scope === '' ? 'unscoped' : 'scoped'
}

/**
 * Returns the key of a slot. The day comes first, because the sweep works by age and folding visits the days of a subject one by
 * one.
 */
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
