import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { requestsMeterName, type MeterEventInput } from '@tollgate/schemas/http/meter-events'
import {
  outcomes,
  type MeterEvent,
  type Outcome,
  withoutCounts,
} from '@tollgate/schemas/meter-event'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { reservationUseText } from '@tollgate/schemas/reservation-reference'

import { referenceOf, textOrNull, timestampOf, withMatches, type Receipt } from './usage-events.ts'

/** 'reads-events': the meter is active, and counts events that it reads instead of calls that name it. */
export type MeterStatus = 'active' | 'archived' | 'unknown' | 'reads-events'

/** Returns the event of one meter event call, or the validation issue of its input. The issue's path starts at the input. */
export function meterEvent(input: MeterEventInput, receipt: Receipt): MeterEvent | ValidationIssue {
  const { holder, receivedAtMs } = receipt
  const timestamp = timestampOf(receipt, input.customerRef, input.timestamp)
  if (typeof timestamp !== 'number') return timestamp
  const idempotencyKey = textOrNull(input.idempotencyKey)
  const event: MeterEvent = {
    id: referenceOf(receipt, input.customerRef, idempotencyKey),
    providerId: holder.providerId,
    customerRef: input.customerRef,
    meterName: input.meterName,
    // The schema accepts only numbers that are an exact number of micros.
    value: microsFromNumber(input.value)!,
    timestamp,
    receivedAt: receivedAtMs,
    productRef: textOrNull(input.productRef),
    purchaseRef: null,
    outcome: outcomeOf(input),
    source: 'meter-events',
    idempotencyKey,
    properties: input.properties === undefined ? '{}' : JSON.stringify(input.properties),
    reservationId: reservationUseText(input.reservationId, input.reservationFinal),
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
  const { matcher } = receipt
  if (matcher === undefined || !matcher.reads(input.meterName)) return event
  return withMatches(event, input.meterName, input.properties ?? {}, ['properties'], matcher)
}

/**
 * Reads the outcome of a meter event from its properties. An unknown outcome counts as 'success', so that the event is still
 * counted.
 */
function outcomeOf({ properties }: MeterEventInput): Outcome {
  const given = properties?.['outcome']
  return outcomes.find((outcome) => outcome === given) ?? 'success'
}

/** Returns whether the meter is built in. Every provider has it and cannot archive it, so its status needs no look-up. */
export function isBuiltInMeter(name: string): boolean {
  return name === requestsMeterName
}

/** Returns the validation issue of the meter that an event names, or undefined if the meter is active. */
export function faultOfMeter(
  name: string,
  status: MeterStatus,
  path: readonly (string | number)[],
): ValidationIssue | undefined {
  if (status === 'active') return undefined
  return { code: 'custom', path: [...path, 'meterName'], message: meterMessages[status](name) }
}

const meterMessages: Readonly<Record<Exclude<MeterStatus, 'active'>, (name: string) => string>> = {
  archived: (name) => `Meter ${name} is archived`,
  unknown: (name) => `Unknown meter ${name}`,
  'reads-events': (name) =>
    `Meter ${name} reads events and cannot be named. Send an event that it reads`,
}
