/** What all customers used, in units and in records, as each place knows it. */
export type Sums = {
  /** What the clients sent at least once. */
  readonly sent: number
  /** What the clients got an answer for. */
  readonly acked: number
  /** What the log has, each record once. */
  readonly logged: number
  /** What the limit checks took off the cap. */
  readonly counted: number
  /** What ClickHouse holds. */
  readonly stored: number
  readonly sentRecords: number
  readonly ackedRecords: number
  readonly loggedRecords: number
  readonly storedRecords: number
}

export const noSums: Sums = {
  sent: 0,
  acked: 0,
  logged: 0,
  counted: 0,
  stored: 0,
  sentRecords: 0,
  ackedRecords: 0,
  loggedRecords: 0,
  storedRecords: 0,
}

export function addSums(a: Sums, b: Sums): Sums {
  return {
    sent: a.sent + b.sent,
    acked: a.acked + b.acked,
    logged: a.logged + b.logged,
    counted: a.counted + b.counted,
    stored: a.stored + b.stored,
    sentRecords: a.sentRecords + b.sentRecords,
    ackedRecords: a.ackedRecords + b.ackedRecords,
    loggedRecords: a.loggedRecords + b.loggedRecords,
    storedRecords: a.storedRecords + b.storedRecords,
  }
}

export function sumsAgree(sums: Sums): boolean {
  const units = new Set([sums.sent, sums.acked, sums.logged, sums.counted, sums.stored])
  const { sentRecords, ackedRecords, loggedRecords, storedRecords } = sums
  const records = new Set([sentRecords, ackedRecords, loggedRecords, storedRecords])
  return units.size === 1 && records.size === 1
}

/** Acknowledged records that some place lacks. */
export function lostRecords({ ackedRecords, loggedRecords, storedRecords }: Sums): number {
  return Math.max(0, ackedRecords - Math.min(loggedRecords, storedRecords))
}

/** Records that some place has beyond those that were sent. */
export function doubleRecords({ sentRecords, loggedRecords, storedRecords }: Sums): number {
  return Math.max(0, Math.max(loggedRecords, storedRecords) - sentRecords)
}
