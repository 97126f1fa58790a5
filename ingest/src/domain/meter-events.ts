import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { requestsMeterName, type MeterEventInput } from '@tollgate/schemas/http/meter-events'
import { faultOfTimestamp } from '@tollgate/schemas/http/timestamp-window'
import { outcomes, type MeterEvent, type Outcome } from '@tollgate/schemas/meter-event'
import { microsFromNumber } from '@tollgate/schemas/quantity'

import { referenceOf, textOrNull, type Receipt } from './usage-events.ts'

export type MeterStatus = 'active' | 'archived' | 'unknown'

/** The event of one meter event call, or what is wrong with it; the issue's path begins at the input. */
export function meterEvent(input: MeterEventInput, receipt: Receipt): MeterEvent | ValidationIssue {
  const { holder, receivedAtMs } = receipt
  const timestamp = input.timestamp === undefined ? receivedAtMs : Date.parse(input.timestamp)
  const fault = faultOfTimestamp(timestamp, receivedAtMs)
  if (fault !== undefined) return fault
  const idempotencyKey = textOrNull(input.idempotencyKey)
  return {
    id: referenceOf(receipt, input.customerRef, idempotencyKey),
    providerId: holder.providerId,
    customerRef: input.customerRef,
    meterName: input.meterName,
    // The schema takes only numbers that have exact micros.
    value: microsFromNumber(input.value)!,
    timestamp,
    receivedAt: receivedAtMs,
    productRef: textOrNull(input.productRef),
    purchaseRef: null,
    outcome: outcomeOf(input),
    source: 'meter-events',
    idempotencyKey,
    properties: input.properties === undefined ? '{}' : JSON.stringify(input.properties),
    reservationId: textOrNull(input.reservationId),
    traceParent: null,
    debit: null,
  }
}

/** Here the outcome is one of the properties. One that we do not know does not keep the event from counting. */
function outcomeOf({ properties }: MeterEventInput): Outcome {
  const given = properties?.['outcome']
  return outcomes.find((outcome) => outcome === given) ?? 'success'
}

/** Every provider is born with it and cannot archive it, so nobody has to be asked about it. */
export function isBornMeter(name: string): boolean {
  return name === requestsMeterName
}

/** What is wrong with the meter that an event names; undefined: nothing. */
export function faultOfMeter(
  name: string,
  status: MeterStatus,
  path: readonly (string | number)[],
): ValidationIssue | undefined {
  if (status === 'active') return undefined
  const message = status === 'archived' ? `Meter ${name} is archived` : `Unknown meter ${name}`
  return { code: 'custom', path: [...path, 'meterName'], message }
}
