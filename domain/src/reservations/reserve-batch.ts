import type { BatchMode, ReserveOutcome } from '@tollgate/platform/hot-state/reservations'
import type { UsageParts } from '../entitlements/usage-query.ts'
import {
  openReadings,
  prepareReservation,
  readCustomer,
  type CustomerQuery,
  type HoldQuery,
  type PreparedReservation,
  type ReservedUsage,
} from './reserve-usage.ts'
import { waitForLateReadings } from './late-readings.ts'

export type BatchQuery = CustomerQuery & {
  /** At most `batchReservationsMax`. */
  readonly holds: readonly HoldQuery[]
  readonly mode: BatchMode
}

type Prepared = Extract<PreparedReservation, { kind: 'prepared' }>

/**
 * Makes several reservations for one customer and product in one atomic step, each by the rules of `reserveUsage` and after those
 * before it. With 'all-or-none', nothing is held unless all are admitted; the results are then those of the attempt. Throws
 * UsageBehindError if the counters do not catch up in time.
 */
export async function reserveBatch(
  parts: UsageParts,
  { holds, mode, ...customerQuery }: BatchQuery,
): Promise<readonly ReservedUsage[]> {
  const deadline = performance.now() + customerQuery.waitMs
  const first = openReadings(parts, customerQuery)
  for (;;) {
    const customer = await readCustomer(parts, customerQuery, first)
    if (customer === undefined) return holds.map(() => ({ kind: 'unknown' }))
    const prepared = await Promise.all(
      holds.map((hold) =>
        prepareReservation(parts, { ...customerQuery, ...hold }, customer, first),
      ),
    )
    const late = prepared.find(({ kind }) => kind === 'late') as { readings: Late } | undefined
    const asked = prepared.filter((each): each is Prepared => each.kind === 'prepared')
    if (late === undefined && !isToBeAsked(prepared, mode)) return prepared.map(unasked)
    const outcomes =
      late === undefined && isOfOneReading(asked) ? await reserve(parts, asked, mode) : 'behind'
    if (outcomes !== 'behind') return decideAll(prepared, outcomes)
    const readings = late?.readings ?? asked[0]!.readings
    await waitForLateReadings(parts, readings, customerQuery.waitMs, deadline)
  }
}

type Late = Prepared['readings']

/** Returns false if nothing can be held: a request is invalid, or one of them is refused already and all or none are held. */
function isToBeAsked(prepared: readonly PreparedReservation[], mode: BatchMode): boolean {
  const decided = prepared.filter((each) => each.kind === 'decided')
  if (decided.some(({ reserved }) => reserved.kind !== 'charged')) return false
  return decided.length === 0 || (mode === 'each' && decided.length < prepared.length)
}

async function reserve(
  { hotState }: UsageParts,
  asked: readonly Prepared[],
  mode: BatchMode,
): Promise<readonly ReserveOutcome[] | 'behind'> {
  const requests = asked.map(({ request }) => request)
  return await hotState.reserveBatch(requests, mode)
}

/** Returns whether no other document was published between the readings of the requests. */
function isOfOneReading(asked: readonly Prepared[]): boolean {
  const own = new Set(asked.map(({ request }) => request.document))
  const wallets = asked.flatMap(({ request: { together } }) => together ?? [])
  return own.size === 1 && new Set(wallets.map(({ document }) => document)).size <= 1
}

function decideAll(
  prepared: readonly PreparedReservation[],
  outcomes: readonly ReserveOutcome[],
): ReservedUsage[] {
  let next = 0
  return prepared.map((each) => {
    if (each.kind !== 'prepared') return unasked(each)
    const outcome = outcomes[next++]!
    if (outcome.kind === 'behind') throw new Error('A step that must wait has no other outcomes')
    return each.decide(outcome)
  })
}

/** Returns the result of a reservation for which hot state was not asked. */
function unasked(prepared: PreparedReservation): ReservedUsage {
  return prepared.kind === 'decided' ? prepared.reserved : { kind: 'not-tried' }
}
