import { hasTestClocks } from '@tollgate/domain/test-clocks/customer-time'
import { bulkItems, type BulkBody } from '@tollgate/schemas/http/bulk'
import type { UsageRecordingParts } from '../../recording/record-usage.ts'
import type { CallControlPlane } from '../../domain/call-control-plane.ts'
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
  readonly callControlPlane: CallControlPlane
  readonly unknownNames: UnknownNameCounts
  readonly randomReference: (nowMs: number) => string
}

/** Returns the references of the customers that the body of a request names. */
type CustomersOf<Input> = (input: Input) => readonly string[]

type Named = { readonly customerRef: string }

export function customersOfOne({ customerRef }: Named): readonly string[] {
  return [customerRef]
}

export function customersOfBulk(input: BulkBody<Named>): readonly string[] {
  return bulkItems(input).map(({ customerRef }) => customerRef)
}

/**
 * Calls `then` with the receipt of a request about the customers that `customersOf` lists. Live requests need no list, so none is made
 * for them. The meters of the provider are read first only if the cached ones are not fresh, so nearly all requests need no promise.
 */
export function withReceipt<Input, Result>(
  parts: RecordingParts,
  call: Pick<HotCall<Input>, 'holder' | 'authorization' | 'input'>,
  customersOf: CustomersOf<Input>,
  then: (receipt: Receipt) => Result | Promise<Result>,
): Result | Promise<Result> {
  const matcher = parts.meters.matcherOf(call.holder, call.authorization)
  if (!(matcher instanceof Promise)) return withTimes(parts, call, matcher, customersOf, then)
  return matcher.then((found) => withTimes(parts, call, found, customersOf, then))
}

function withTimes<Input, Result>(
  parts: RecordingParts,
  { holder, input }: Pick<HotCall<Input>, 'holder' | 'input'>,
  matcher: EventMatcher,
  customersOf: CustomersOf<Input>,
  then: (receipt: Receipt) => Result | Promise<Result>,
): Result | Promise<Result> {
  if (!hasTestClocks(holder.environment)) return then(receiptOf(parts, holder, matcher, undefined))
  const times = parts.customerTimes.read(holder, customersOf(input))
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
