import {
  bucketAt,
  bucketFormName,
  oldestKeptBucket,
  type BucketSpec,
} from '../hot-state/buckets.ts'
import type { Entry, Increment, Span, Window } from '../hot-state/hot-state.ts'
import type { Address } from './counts-model.ts'

/** The increments of some counts, and the ones that each form of each entry has counted, by name. */
type Counts = {
  readonly increments: Increment[]
  readonly counted: Map<string, Map<string, Set<number>>>
  /** Numbers of increments with a scope that a window has counted, so that they are in no slot. */
  readonly taken: Set<number>
}

type Published = { version: number; windows: readonly Window[]; specs: readonly BucketSpec[] }

/**
 * A simple model of buckets that keeps every increment. It has one space and partition, and sums when it is read. Nothing is swept
 * from slots.
 */
export class BucketsModel {
  readonly #entries = new Map<string, Published>()
  /** Names of the forms that each entry has ever listed. */
  readonly #forms = new Map<string, Set<string>>()
  #inUse = newCounts()
  #shadow: Counts | undefined

  putEntry(at: Address, { version, windows, buckets = [] }: Entry): void {
    const name = nameOf(at)
    const stored = this.#entries.get(name)
    if (stored !== undefined && version < stored.version) return
    this.#entries.set(name, { version, windows, specs: buckets })
    const forms = this.#forms.get(name) ?? new Set()
    this.#forms.set(name, forms)
    const added = new Set(buckets.map(bucketFormName).filter((form) => !forms.has(form)))
    for (const form of added) forms.add(form)
    for (const counts of this.#counts()) this.#fold(counts, at, added, windows)
  }

  deleteEntry(at: Address): void {
    this.#entries.delete(nameOf(at))
  }

  apply(increments: readonly Increment[]): void {
    for (const each of increments) this.#add(this.#inUse, each)
  }

  beginRestore(): void {
    this.#shadow = newCounts()
  }

  /** Adds a span that was taken. */
  restore({ fromSecond: second, ...span }: Span): void {
    this.#add(this.#shadow!, { ...span, second })
  }

  finishRestore(): void {
    this.#inUse = this.#shadow!
    this.#shadow = undefined
  }

  /** Returns the sums by spec id and bucket, of the buckets that are kept at that time. */
  buckets(at: Address, series: string, nowSecond: number): Record<string, Record<number, bigint>> {
    const sums: Record<string, Record<number, bigint>> = {}
    for (const spec of this.#entries.get(nameOf(at))?.specs ?? []) {
      const ofSpec: Record<number, bigint> = {}
      for (const number of countedBy(this.#inUse, nameOf(at), bucketFormName(spec))) {
        const increment = this.#inUse.increments[number]!
        const bucket = bucketAt(spec, increment.second)
        if (increment.series !== series || bucket < oldestKeptBucket(spec, nowSecond)) continue
        ofSpec[bucket] = (ofSpec[bucket] ?? 0n) + increment.amount
      }
      sums[spec.id] = ofSpec
    }
    return sums
  }

  #counts(): Counts[] {
    return this.#shadow === undefined ? [this.#inUse] : [this.#inUse, this.#shadow]
  }

  #add(counts: Counts, increment: Increment): void {
    const number = counts.increments.push(increment) - 1
    for (const [name, forms] of this.#forms) {
      const [subject, scope] = JSON.parse(name) as [string, string]
      if (!isCountedFor(increment, { subject, scope })) continue
      for (const form of forms) countedBy(counts, name, form).add(number)
      const windows = this.#entries.get(name)?.windows ?? []
      if (increment.scope !== '' && isWithin(windows, increment.second)) counts.taken.add(number)
    }
  }

  #fold(counts: Counts, at: Address, added: ReadonlySet<string>, windows: readonly Window[]): void {
    counts.increments.forEach((increment, number) => {
      if (!isCountedFor(increment, at) || counts.taken.has(number)) return
      for (const form of added) countedBy(counts, nameOf(at), form).add(number)
      if (increment.scope !== '' && isWithin(windows, increment.second)) counts.taken.add(number)
    })
  }
}

function newCounts(): Counts {
  return { increments: [], counted: new Map(), taken: new Set() }
}

function countedBy({ counted }: Counts, name: string, form: string): Set<number> {
  const forms = counted.get(name) ?? new Map<string, Set<number>>()
  counted.set(name, forms)
  const numbers = forms.get(form) ?? new Set()
  forms.set(form, numbers)
  return numbers
}

function isCountedFor(increment: Increment, { subject, scope }: Address): boolean {
  return increment.subject === subject && (increment.scope === '' || increment.scope === scope)
}

function isWithin(windows: readonly Window[], second: number): boolean {
  return windows.some(({ fromSecond, toSecond }) => fromSecond <= second && second < toSecond)
}

function nameOf({ subject, scope }: Address): string {
  return JSON.stringify([subject, scope])
}
