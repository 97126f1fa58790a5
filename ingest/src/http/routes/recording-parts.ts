import type { UsageRecordingParts } from '../../recording/record-usage.ts'
import type { EventMatcher } from '../../domain/event-matcher.ts'
import type { KeyDirectory, KeyHolder } from '../../domain/key-holder.ts'
import type { CustomerTimes, TimesByCustomer } from '../../hot-state/customer-times.ts'
import type { MetersCache } from '../../hot-state/meters-cache.ts'
import type { Recharges } from '../../domain/recharges.ts'
import type { Receipt } from '../../domain/usage-events.ts'
import type { HotCall } from '../hot-route.ts'
import type { UnknownNameCounts } from '../unknown-in-call.ts'

/** Dependencies of the routes that record usage. */
export type RecordingParts = UsageRecordingParts & {
  readonly keys: KeyDirectory
  readonly meters: MetersCache
  readonly recharges: Recharges
  readonly nowMs: () => number
  readonly customerTimes: CustomerTimes
  readonly unknownNames: UnknownNameCounts
  readonly randomReference: (nowMs: number) => string
}

/**
 * Calls `then` with the receipt of a request about these customers. The meters of the provider are read first only if the cached ones
 * are not fresh, so nearly all requests need no promise.
 */
export function withReceipt<Result>(
  parts: RecordingParts,
  { holder, authorization }: Pick<HotCall<unknown>, 'holder' | 'authorization'>,
  customerRefs: readonly string[],
  then: (receipt: Receipt) => Result | Promise<Result>,
): Result | Promise<Result> {
  const matcher = parts.meters.matcherOf(holder, authorization)
  if (!(matcher instanceof Promise)) return withTimes(parts, holder, matcher, customerRefs, then)
  return matcher.then((found) => withTimes(parts, holder, found, customerRefs, then))
}

function withTimes<Result>(
  parts: RecordingParts,
  holder: KeyHolder,
  matcher: EventMatcher,
  customerRefs: readonly string[],
  then: (receipt: Receipt) => Result | Promise<Result>,
): Result | Promise<Result> {
  const times = parts.customerTimes.read(holder, customerRefs)
  if (!(times instanceof Promise)) return then(receiptOf(parts, holder, matcher, times))
  return times.then((found) => then(receiptOf(parts, holder, matcher, found)))
}

function receiptOf(
  { nowMs, randomReference }: RecordingParts,
  holder: KeyHolder,
  matcher: EventMatcher,
  customerTimes: TimesByCustomer | undefined,
): Receipt {
  return { holder, receivedAtMs: nowMs(), customerTimes, randomReference, matcher }
}
