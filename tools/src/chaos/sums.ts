/** Usage of all customers, in units and in records, as seen by each place. */
export type Sums = {
  /** Units that clients sent at least once. */
  readonly sent: number
  /** Units whose requests were acknowledged. */
  readonly acked: number
  /** Units in the log, without duplicates. */
  readonly logged: number
  /** Units that the limit checks subtracted from the cap. */
  readonly counted: number
  /** Units in ClickHouse. */
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

/** Returns the number of acknowledged records that are missing from the log or from ClickHouse. */
export function lostRecords({ ackedRecords, loggedRecords, storedRecords }: Sums): number {
  return Math.max(0, ackedRecords - Math.min(loggedRecords, storedRecords))
}

/** Returns the number of records in the log or in ClickHouse in addition to those sent. */
export function duplicateRecords({ sentRecords, loggedRecords, storedRecords }: Sums): number {
  return Math.max(0, Math.max(loggedRecords, storedRecords) - sentRecords)
}
