import type { EventRecord } from './decoded-batch.ts'

/** What a batch has of one provider, meter and day (UTC): ClickHouse finds these rows without reading others. */
export type BatchPiece = {
  readonly providerId: string
  readonly meterName: string
  /** Midnight, Unix milliseconds. */
  readonly dayMs: number
  readonly customerRefs: readonly string[]
  /** Records that these customers have in it. */
  readonly recordTotal: number
}

export const millisecondsOfDay = 86_400_000

/** Pieces of at most so many customers, which together are the whole batch. */
export function cutBatch(events: readonly EventRecord[], customersMax: number): BatchPiece[] {
  const days = new Map<string, Day>()
  for (const { event } of events) {
    const { providerId, meterName, customerRef, timestamp } = event
    const dayMs = timestamp - (timestamp % millisecondsOfDay)
    const name = JSON.stringify([providerId, meterName, dayMs])
    const day: Day = days.get(name) ?? { providerId, meterName, dayMs, records: new Map() }
    day.records.set(customerRef, (day.records.get(customerRef) ?? 0) + 1)
    days.set(name, day)
  }
  return [...days.values()].flatMap((day) => cutDay(day, customersMax))
}

type Day = Pick<BatchPiece, 'providerId' | 'meterName' | 'dayMs'> & {
  /** By customer. */
  readonly records: Map<string, number>
}

function cutDay({ records, ...day }: Day, customersMax: number): BatchPiece[] {
  const customers = [...records]
  const pieces: BatchPiece[] = []
  for (let from = 0; from < customers.length; from += customersMax) {
    const some = customers.slice(from, from + customersMax)
    pieces.push({
      ...day,
      customerRefs: some.map(([customerRef]) => customerRef),
      recordTotal: some.reduce((sum, [, total]) => sum + total, 0),
    })
  }
  return pieces
}
