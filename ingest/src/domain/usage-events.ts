import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { faultOfTimestamp } from '@tollgate/schemas/http/timestamp-window'
import type { UsageInput } from '@tollgate/schemas/http/usages'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { reservationUseText } from '@tollgate/schemas/reservation-reference'
import { keyedUsageReference } from '@tollgate/schemas/usage-reference'
import type { EventMatcher } from './event-matcher.ts'
import { isIssue } from './event-values.ts'
import type { KeyHolder } from './key-holder.ts'

/** The fields of an event that come from the request rather than from its body. */
export type Receipt = {
  readonly holder: KeyHolder
  readonly receivedAtMs: number
  /** Times of customers on test clocks in Unix milliseconds. Absent if the request has none. */
  readonly customerTimes?: ReadonlyMap<string, number> | undefined
  /** Returns a new reference at every call. */
  readonly randomReference: (nowMs: number) => string
  /** Accepts timestamps as old as those of usage that can be corrected. */
  readonly isBackfill?: boolean | undefined
  /** The meters of the provider that read events. Absent if what they count is found later. */
  readonly matcher?: EventMatcher
}

/** Milliseconds around real time within which a timestamp means "now" for a customer on a test clock. */
const realTimeMs = 3_600_000

/**
 * Returns the time of a customer's event in Unix milliseconds, or the validation issue of the given timestamp. Clients such as the MCP
 * proxy date each call with real time and know nothing of clocks, so real time means the time of the customer's clock.
 */
export function timestampOf(
  { receivedAtMs, customerTimes, isBackfill }: Receipt,
  customerRef: string,
  given: string | undefined,
): number | ValidationIssue {
  const nowMs = customerTimes?.get(customerRef) ?? receivedAtMs
  if (given === undefined) return nowMs
  const timestamp = Date.parse(given)
  const isOnClock = nowMs !== receivedAtMs
  if (isOnClock && Math.abs(timestamp - receivedAtMs) <= realTimeMs) return nowMs
  return faultOfTimestamp(timestamp, nowMs, isBackfill) ?? timestamp
}

/** Returns the event of one usage call, or the validation issue of its input. The issue's path starts at the input. */
export function usageEvent(input: UsageInput, receipt: Receipt): MeterEvent | ValidationIssue {
  const { holder, receivedAtMs } = receipt
  const timestamp = timestampOf(receipt, input.customerRef, input.timestamp)
  if (typeof timestamp !== 'number') return timestamp
  const idempotencyKey = textOrNull(input.idempotencyKey)
  const event: MeterEvent = {
    id: referenceOf(receipt, input.customerRef, idempotencyKey),
    providerId: holder.providerId,
    customerRef: input.customerRef,
    meterName: requestsMeterName,
    value: input.units * microsPerUnit,
    timestamp,
    receivedAt: receivedAtMs,
    productRef: textOrNull(input.productRef),
    purchaseRef: textOrNull(input.purchaseRef),
    outcome: input.outcome,
    source: 'usages',
    idempotencyKey,
    properties: propertiesOf(input),
    reservationId: reservationUseText(input.reservationId, input.reservationFinal),
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
  const { matcher } = receipt
  // A call of 0 units repeats one that was counted: the MCP proxy records free repeats so.
  if (matcher === undefined || input.units === 0 || !matcher.reads(requestsMeterName)) return event
  return withMatches(event, requestsMeterName, propertiesObject(input), [], matcher)
}

/**
 * Returns the event with everything that meters count of it, or the validation issue of a property. `path` is where the properties
 * are in the input, and `value` is what a meter without pointers counts, in 10^-6 units.
 */
export function withMatches(
  event: MeterEvent,
  type: string,
  properties: JsonObject,
  path: readonly string[],
  matcher: EventMatcher,
  value = event.value,
): MeterEvent | ValidationIssue {
  const { timestamp } = event
  const matched = matcher.match({ type, value, timestamp, properties })
  if (isIssue(matched)) return { ...matched, path: [...path, ...matched.path] }
  return matched.counts.length === 0 ? event : { ...event, ...matched }
}

/**
 * Returns the reference of a record. The same customer and idempotency key give the same reference, for usage and for meter events.
 */
export function referenceOf(
  { holder, receivedAtMs, randomReference }: Receipt,
  customerRef: string,
  idempotencyKey: string | null,
): string {
  if (idempotencyKey === null) return randomReference(receivedAtMs)
  return keyedUsageReference(holder.environment, holder.providerId, customerRef, idempotencyKey)
}

/**
 * Returns the JSON text of the properties that are stored beside the value. Fields without a value are left out. The text is built
 * by hand, which halves a cost of every usage call. Outcome and action type come from fixed lists and need no escaping.
 */
function propertiesOf(input: UsageInput): string {
  return (
    `{"outcome":"${input.outcome}","actionType":"${input.actionType}"` +
    member('productRef', input.productRef) +
    member('purchaseRef', input.purchaseRef) +
    member('description', input.description) +
    member('errorMessage', input.errorMessage) +
    member('duration', input.duration) +
    member('metadata', input.metadata) +
    '}'
  )
}

/** Returns the members of `propertiesOf` as an object. */
function propertiesObject(input: UsageInput): JsonObject {
  const { outcome, actionType, productRef, purchaseRef } = input
  const { description, errorMessage, duration, metadata } = input
  return {
    outcome,
    actionType,
    productRef,
    purchaseRef,
    description,
    errorMessage,
    duration,
    metadata,
  }
}

function member(name: string, value: unknown): string {
  return value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`
}

/** An empty reference means the same as a missing one. */
export function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
