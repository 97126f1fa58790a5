import { countsOf, type MeterEvent } from '@tollgate/schemas/meter-event'
import type { CountingWindow } from './counting-windows.ts'

export type TailRecord = {
  readonly offset: number
  readonly event: MeterEvent
}

/** Selects the records of one log partition that are to be counted. */
export type TailScope = {
  readonly providerId: string
  readonly customerRefs: ReadonlySet<string>
  readonly productRef: string
  readonly meterName: string
  readonly windows: readonly CountingWindow[]
}

/**
 * Returns whether the record may count in this scope. This check is cheap and runs before the record's mark is looked
 * up.
 */
export function isInScope(event: MeterEvent, scope: TailScope): boolean {
  return (
    event.outcome === 'success' &&
    valueIn(event, scope) !== undefined &&
    event.providerId === scope.providerId &&
    // A record without a product counts for every product of the provider.
    (event.productRef === null ||
      event.productRef === '' ||
      event.productRef === scope.productRef) &&
    scope.customerRefs.has(event.customerRef)
  )
}

/** Returns what the event counts on the scope's meter, or undefined for nothing. */
function valueIn(event: MeterEvent, { meterName }: TailScope): number | undefined {
  if (event.counts.length === 0) return event.meterName === meterName ? event.value : undefined
  return countsOf(event).find((count) => count.meterName === meterName)?.value
}

/**
 * Returns the amounts that the counters will add to each window once they have applied these records. The records are
 * consecutive records of one partition, starting at the applied offset. `marks` maps ids with an idempotency key to the
 * offset that used them first, as far as known. The marks may be newer than the applied offset, because they contain
 * the offset and not only the fact that an id was used.
 */
export function foldTail(
  records: Iterable<TailRecord>,
  scope: TailScope,
  marks: ReadonlyMap<string, number>,
): Map<string, bigint> {
  const amounts = new Map<string, bigint>()
  for (const event of withoutRepeats(records, marks)) {
    if (!isInScope(event, scope)) continue
    const second = Math.floor(event.timestamp / 1000)
    const window = scope.windows.find(
      ({ fromSecond, toSecond }) => fromSecond <= second && second < toSecond,
    )
    if (window === undefined) continue
    amounts.set(window.id, (amounts.get(window.id) ?? 0n) + BigInt(valueIn(event, scope)!))
  }
  return amounts
}

/**
 * Returns the amount that these records will add to what the customer's wallet has paid, in 10^-6 credits. `marks` as
 * in `foldTail`.
 */
export function foldTailDebits(
  records: Iterable<TailRecord>,
  marks: ReadonlyMap<string, number>,
): bigint {
  let micros = 0n
  for (const { outcome, debit } of withoutRepeats(records, marks)) {
    if (outcome === 'success' && debit !== null) micros += BigInt(debit)
  }
  return micros
}

/** Yields all records except those that repeat an idempotency key. */
function* withoutRepeats(
  records: Iterable<TailRecord>,
  marks: ReadonlyMap<string, number>,
): Generator<MeterEvent> {
  const firstOffsets = new Map(marks)
  for (const { offset, event } of records) {
    if (event.idempotencyKey !== null) {
      const first = firstOffsets.get(event.id) ?? offset
      firstOffsets.set(event.id, first)
      if (first !== offset) continue
    }
    yield event
  }
}
