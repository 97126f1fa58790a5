/** One customer's usage, as every place knows it that can be asked. Units, unless it says records. */
export type CustomerSums = {
  readonly customerRef: string
  /** Whether every record bore an idempotency key, so that its clients repeated it until there was an answer. */
  readonly isKeyed: boolean
  readonly acked: number
  readonly sent: number
  /** What a limit check took off the cap. */
  readonly counted: number
  /** What Redis itself holds. */
  readonly inRedis: number
  /** What the usage query of the API answers; undefined where it was not asked. */
  readonly queried: number | undefined
  /** What ClickHouse holds, each record once. */
  readonly stored: number
  /** The same in its roll-up. */
  readonly rolledUp: number
  readonly ackedRecords: number
  readonly sentRecords: number
  readonly storedRecords: number
  /** Rows beyond one per record. */
  readonly rowsTwice: number
}

/** What is wrong with them; undefined when nothing is. */
export function findDifference(sums: CustomerSums): string | undefined {
  const { customerRef, stored } = sums
  const places = ['counted', 'inRedis', 'queried', 'rolledUp'] as const
  const differing = places.filter((place) => (sums[place] ?? stored) !== stored)
  const problems = [
    ...differing.map((place) => `${place} ${sums[place]}`),
    ...(isWithin(sums) ? [] : [expectation(sums)]),
    ...(sums.rowsTwice === 0 ? [] : [`${sums.rowsTwice} rows twice`]),
  ]
  return problems.length === 0
    ? undefined
    : `${customerRef}: stored ${stored} (${sums.storedRecords} records), ${problems.join(', ')}`
}

/** Nothing acknowledged is missing, and nothing is there that was not sent; with keys that is one number. */
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
    rowsTwice: total((sums) => sums.rowsTwice),
  }
}
