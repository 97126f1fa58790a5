import { meterNameOf, type UsageRow } from './usage-rows.ts'

/** The records of a batch with one provider, meter and day (UTC). ClickHouse finds their rows without reading others. */
export type BatchPiece = {
  readonly providerId: string
  readonly meterName: string
  /** Midnight of the day in Unix milliseconds. */
  readonly dayMs: number
  readonly customerRefs: readonly string[]
  /** Number of records of these customers in the piece. */
  readonly recordTotal: number
}

export const millisecondsOfDay = 86_400_000

/** Splits rows into pieces of at most `customersMax` customers each. */
export function cutBatch(rows: readonly UsageRow[], customersMax: number): BatchPiece[] {
  const days = new Map<string, Day>()
  for (const row of rows) {
    const { providerId, customerRef, timestamp } = row.event
    const meterName = meterNameOf(row)
    const dayMs = timestamp - (timestamp % millisecondsOfDay)
    const name = JSON.stringify([providerId, meterName, dayMs])
    const day: Day = days.get(name) ?? { providerId, meterName, dayMs, records: new Map() }
    day.records.set(customerRef, (day.records.get(customerRef) ?? 0) + 1)
    days.set(name, day)
  }
  return [...days.values()].flatMap((day) => cutDay(day, customersMax))
}

type Day = Pick<BatchPiece, 'providerId' | 'meterName' | 'dayMs'> & {
  /** Number of records by customer reference. */
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
