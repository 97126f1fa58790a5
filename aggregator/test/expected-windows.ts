import type { Window } from '@tollgate/platform/hot-state/hot-state'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

const day = 86_400
/** The first second is midnight UTC. */
export const start = 20_000 * day
/** Windows with partial days, whole days, and one that starts and ends within a minute. */
export const windows: readonly Window[] = [
  { id: 'first', fromSecond: start + 3_600, toSecond: start + 3 * day },
  { id: 'second', fromSecond: start + 3 * day, toSecond: start + 5 * day + 61 },
  { id: 'third', fromSecond: start + 5 * day + 61, toSecond: start + 9 * day },
]
export const providers = ['prov_1', 'prov_2']
export const customers = ['ada', 'bob', 'ä/ö']
export const products = ['prd_a', 'prd_b']
export const places = providers.flatMap((providerId) =>
  customers.flatMap((customerRef) =>
    products.map((productRef) => ({ providerId, customerRef, productRef })),
  ),
)

/** Returns the name of the wallet for its debits. */
export function walletName({
  providerId,
  customerRef,
}: Pick<MeterEvent, 'providerId' | 'customerRef'>) {
  return JSON.stringify(['wallet', providerId, customerRef])
}

/** Computes the expected counts in the simplest way: the first record of a key counts, if it is a success. */
export function expectedOf(events: readonly MeterEvent[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  const seen = new Set<string>()
  for (const each of events) {
    if (each.idempotencyKey !== null && seen.has(each.id)) continue
    seen.add(each.id)
    if (each.outcome !== 'success') continue
    if (each.debit !== null) {
      const wallet = walletName(each)
      sums.set(wallet, (sums.get(wallet) ?? 0n) + BigInt(each.debit))
    }
    const second = Math.floor(each.timestamp / 1000)
    const window = windows.find((w) => w.fromSecond <= second && second < w.toSecond)
    if (window === undefined) continue
    for (const place of places) {
      if (place.providerId !== each.providerId || place.customerRef !== each.customerRef) continue
      if (each.productRef !== null && each.productRef !== place.productRef) continue
      for (const { meterName, value } of [each, ...each.counts]) {
        if (meterName === '') continue
        const key = JSON.stringify([place, meterName, window.id])
        sums.set(key, (sums.get(key) ?? 0n) + BigInt(value))
      }
    }
  }
  return new Map([...sums].filter(([, sum]) => sum !== 0n))
}
