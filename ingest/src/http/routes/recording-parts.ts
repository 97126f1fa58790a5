import type { UsageRecordingParts } from '../../recording/record-usage.ts'
import type { EventMatcher } from '../../domain/event-matcher.ts'
import type { KeyDirectory, KeyHolder } from '../../domain/key-holder.ts'
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
  readonly unknownNames: UnknownNameCounts
  readonly randomReference: (nowMs: number) => string
}

/**
 * Calls `then` with the receipt of a request. The meters of the provider are read first only if the cached ones are not fresh, so
 * nearly all requests need no promise.
 */
export function withReceipt<Result>(
  parts: RecordingParts,
  { holder, authorization }: Pick<HotCall<unknown>, 'holder' | 'authorization'>,
  then: (receipt: Receipt) => Result | Promise<Result>,
): Result | Promise<Result> {
  const matcher = parts.meters.matcherOf(holder, authorization)
  if (!(matcher instanceof Promise)) return then(receiptOf(parts, holder, matcher))
  return matcher.then((found) => then(receiptOf(parts, holder, found)))
}

function receiptOf(parts: RecordingParts, holder: KeyHolder, matcher: EventMatcher): Receipt {
  const { nowMs, randomReference } = parts
  return { holder, receivedAtMs: nowMs(), randomReference, matcher }
}
