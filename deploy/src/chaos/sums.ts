/** Units per customer, as three places know them. */
export type Sums = {
  /** What the clients got an answer for. */
  readonly acked: number
  /** What the limit checks took off the cap. */
  readonly counted: number
  /** What ClickHouse holds. */
  readonly stored: number
  /** Requests whose records were acked, and rows in ClickHouse. */
  readonly ackedRecords: number
  readonly storedRecords: number
}

export const noSums: Sums = { acked: 0, counted: 0, stored: 0, ackedRecords: 0, storedRecords: 0 }

export function addSums(a: Sums, b: Sums): Sums {
  return {
    acked: a.acked + b.acked,
    counted: a.counted + b.counted,
    stored: a.stored + b.stored,
    ackedRecords: a.ackedRecords + b.ackedRecords,
    storedRecords: a.storedRecords + b.storedRecords,
  }
}

export function sumsAgree(sums: Sums): boolean {
  return (
    sums.acked === sums.counted &&
    sums.counted === sums.stored &&
    sums.ackedRecords === sums.storedRecords
  )
}
