import type { HotState } from '../hot-state/hot-state.ts'
import type { ReservationAddress, ReserveRequest } from '../hot-state/reservations.ts'

export const partition = 3
export const at = { space: 'live', partition, subject: '4:prov_user', scope: 'prd_a' }
export const window = { id: 'w', fromSecond: 0, toSecond: 1_000 }
const hourMs = 3_600_000

/** Returns a request for one unit out of a hundred, at the place of these tests. */
export function request(reservationId: string, more: Partial<ReserveRequest> = {}): ReserveRequest {
  return {
    at,
    reservationId,
    document: '{}',
    units: 1n,
    takes: 'all',
    ttlMs: hourMs,
    subjects: [at.subject],
    series: 'calls',
    windowId: window.id,
    cap: 100n,
    minOffset: 0,
    isReservedFirst: false,
    elsewhere: { amount: 0n, appliedOffsets: new Map() },
    reservationsMax: 100_000,
    ...more,
  }
}

export function ids(count: number, prefix = 'r'): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}${number}`)
}

export async function publishAt(hot: HotState, place: ReservationAddress): Promise<void> {
  await hot.putEntry(place, { version: 1, document: '{}', windows: [window] })
}

export type Batch = Parameters<typeof countAt> extends [HotState, ...infer Rest] ? Rest : never

/** Counts the amount for the subject in the batch that ends at `nextOffset`, and settles reservations of the place with it. */
export async function countAt(
  hot: HotState,
  nextOffset: number,
  amount: bigint,
  more: {
    readonly subject?: string
    readonly scope?: string
    readonly settled?: readonly string[]
    readonly isForgotten?: boolean
  } = {},
): Promise<'applied' | 'fenced'> {
  const { subject = at.subject, scope = at.scope, settled = [], isForgotten = false } = more
  return await hot.apply({
    space: at.space,
    partition,
    expectedOffset: nextOffset - 10,
    nextOffset,
    marks: [],
    increments: [{ subject, scope, series: 'calls', second: 5, amount }],
    settled: settled.map((reservationId) => ({
      subject: at.subject,
      scope: at.scope,
      reservationId,
      isForgotten,
    })),
  })
}
