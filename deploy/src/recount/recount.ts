import { EventMatcher } from '@tollgate/ingest/domain/event-matcher'
import { isIssue } from '@tollgate/ingest/domain/event-values'
import { isAdditive, type MeterReading } from '@tollgate/schemas/meter-reading'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { microsPerUnit } from '@tollgate/schemas/quantity'

/** A record as ClickHouse has it, with what one meter counted of it. */
export type StoredEvent = {
  readonly id: string
  readonly customerRef: string
  readonly productRef: string
  readonly atMs: number
  readonly outcome: string
  readonly source: string
  /** The type of a CloudEvent, or empty. */
  readonly eventType: string
  /** The meter that a call names and its value, in 10^-6 units. The name is empty if the current version does not read the call. */
  readonly own: { readonly meterName: string; readonly micros: number }
  readonly properties: JsonObject
  /** The count that the meter made when the record was received. Null if it made none. */
  readonly counted: Count | null
}

/** The count that one event adds to a meter. */
export type Count = {
  /** 10^-6 units. */
  readonly micros: number
  /** The text that a meter of distinct values counts, otherwise empty. */
  readonly text: string
}

type RecountedMeter = { readonly name: string; readonly reading: MeterReading }

/** Returns what the meter's current version counts of the event, null for nothing, or undefined if it refuses the event. */
type Recounter = (event: StoredEvent) => Count | null | undefined

function createRecounter({ name, reading }: RecountedMeter): Recounter {
  const meters = { [name]: { reference: '', status: 'active', reads: reading } } as const
  const matcher = new EventMatcher({ meters })
  return (event) => {
    // The type of a call is the meter that it names.
    const type = event.eventType === '' ? event.own.meterName : event.eventType
    // A call of 0 units repeats one that was counted, as when it is received.
    const isRepeat = event.source === 'usages' && event.own.micros === 0
    if (type === '' || isRepeat) return null
    const value = event.eventType === '' ? event.own.micros : microsPerUnit
    const matched = matcher.match({
      type,
      value,
      timestamp: event.atMs,
      properties: event.properties,
    })
    if (isIssue(matched)) return undefined
    const [count] = matched.counts
    return count === undefined ? null : { micros: count.value, text: count.text ?? '' }
  }
}

export type RecountGroup = {
  readonly customerRef: string
  readonly productRef: string
  /** UTC month of the usage, such as `2026-03`. */
  readonly month: string
  /** Whether the usage is in a period that was billed. Such usage is reported only. */
  readonly isBilled: boolean
  /** Records whose count differs. */
  changed: number
  /** Records that the current version refuses, for example because a property is no number. Their counts stay. */
  refused: number
  /** Sums of successful records, in 10^-6 units. Null for meters whose usage is not a sum. */
  beforeMicros: bigint | null
  afterMicros: bigint | null
}

/** Adds up by customer, product and month how the counts of events would change. */
export class RecountTally {
  readonly #recount: Recounter
  readonly #isAdditive: boolean
  readonly #groups = new Map<string, RecountGroup>()
  records = 0

  constructor(meter: RecountedMeter) {
    this.#recount = createRecounter(meter)
    this.#isAdditive = isAdditive(meter.reading.aggregation)
  }

  add(event: StoredEvent, isBilled: boolean): void {
    this.records += 1
    const found = this.#recount(event)
    const after = found === undefined ? event.counted : found
    const isRefused = found === undefined
    const isChanged = event.counted?.micros !== after?.micros || event.counted?.text !== after?.text
    if (event.counted === null && after === null && !isRefused) return
    const group = this.#groupOf(event, isBilled)
    if (isChanged) group.changed += 1
    if (isRefused) group.refused += 1
    if (event.outcome !== 'success' || group.beforeMicros === null || group.afterMicros === null)
      return
    group.beforeMicros += BigInt(event.counted?.micros ?? 0)
    group.afterMicros += BigInt(after?.micros ?? 0)
  }

  /** Returns the groups with changed or refused records, in the order in which they occurred. */
  differences(): RecountGroup[] {
    return [...this.#groups.values()].filter(({ changed, refused }) => changed + refused > 0)
  }

  #groupOf({ customerRef, productRef, atMs }: StoredEvent, isBilled: boolean): RecountGroup {
    const month = new Date(atMs).toISOString().slice(0, 7)
    const key = JSON.stringify([customerRef, productRef, month, isBilled])
    let group = this.#groups.get(key)
    if (group === undefined) {
      const sum = this.#isAdditive ? 0n : null
      const sums = { changed: 0, refused: 0, beforeMicros: sum, afterMicros: sum }
      this.#groups.set(key, (group = { customerRef, productRef, month, isBilled, ...sums }))
    }
    return group
  }
}
