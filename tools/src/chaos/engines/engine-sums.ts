/** One customer's usage as seen by each place. Values are units unless the name says records. */
export type CustomerSums = {
  readonly customerRef: string
  /** Whether every record had an idempotency key, so that clients repeated it until it was answered. */
  readonly isKeyed: boolean
  readonly acked: number
  readonly sent: number
  /** Units that a limit check subtracted from the cap. */
  readonly counted: number
  /** Units counted in Redis itself. */
  readonly inRedis: number
  /** Units returned by the usage query of the API. Undefined if it was not queried. */
  readonly queried: number | undefined
  /** Units in ClickHouse, without duplicates. */
  readonly stored: number
  /** Units in the roll-up of ClickHouse. */
  readonly rolledUp: number
  readonly ackedRecords: number
  readonly sentRecords: number
  readonly storedRecords: number
  /** Number of rows in addition to 1 per record. */
  readonly duplicateRows: number
}

/** Returns a line about what differs, or undefined if all sums agree. */
export function findDifference(sums: CustomerSums): string | undefined {
  const { customerRef, stored } = sums
  const places = ['counted', 'inRedis', 'queried', 'rolledUp'] as const
  const differing = places.filter((place) => (sums[place] ?? stored) !== stored)
  const problems = [
    ...differing.map((place) => `${place} ${sums[place]}`),
    ...(isWithin(sums) ? [] : [expectation(sums)]),
    ...(sums.duplicateRows === 0 ? [] : [`${sums.duplicateRows} duplicate rows`]),
  ]
  return problems.length === 0
    ? undefined
    : `${customerRef}: stored ${stored} (${sums.storedRecords} records), ${problems.join(', ')}`
}

/** Returns whether nothing acknowledged is missing and nothing is stored that was not sent. With keys, the two limits are equal. */
function isWithin({ isKeyed, acked, sent, stored, ...sums }: CustomerSums): boolean {
  const { ackedRecords, sentRecords, storedRecords } = sums
  if (isKeyed) return stored === acked && storedRecords === ackedRecords
  return (
    acked <= stored &&
    stored <= sent &&
    ackedRecords <= storedRecords &&
    storedRecords <= sentRecords
  )
}

function expectation({ isKeyed, acked, sent, ackedRecords, sentRecords }: CustomerSums): string {
  return isKeyed
    ? `acked ${acked} (${ackedRecords} records)`
    : `acked ${acked} to sent ${sent} (${ackedRecords} to ${sentRecords} records)`
}

export type TotalSums = {
  readonly [Place in keyof Omit<CustomerSums, 'customerRef' | 'isKeyed'>]: number
}

export function totalOf(each: readonly CustomerSums[]): TotalSums {
  const total = (pick: (sums: CustomerSums) => number): number =>
    each.reduce((sum, sums) => sum + pick(sums), 0)
  return {
    acked: total((sums) => sums.acked),
    sent: total((sums) => sums.sent),
    counted: total((sums) => sums.counted),
    inRedis: total((sums) => sums.inRedis),
    queried: total((sums) => sums.queried ?? 0),
    stored: total((sums) => sums.stored),
    rolledUp: total((sums) => sums.rolledUp),
    ackedRecords: total((sums) => sums.ackedRecords),
    sentRecords: total((sums) => sums.sentRecords),
    storedRecords: total((sums) => sums.storedRecords),
    duplicateRows: total((sums) => sums.duplicateRows),
  }
}
