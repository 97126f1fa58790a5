import { isPlainObject } from '../json-object.ts'
import { bulkRecordsMax } from '../limits.ts'
import { microsFromNumber } from '../quantity.ts'
import {
  acceptList,
  isInstantText,
  isJsonObject,
  isOptionalReference,
  isRequiredReference,
} from './accept-fields.ts'
import type { MeterEventInput, MeterEventsBulkInput } from './meter-events.ts'
import { requestsMeterName } from './meter-events.ts'

/** Returns the result of `meterEventSchema` for an ordinary valid body, otherwise undefined: the schema decides. */
export function acceptMeterEvent(body: unknown): MeterEventInput | undefined {
  if (!isPlainObject(body)) return undefined
  const { customerRef, meterName = requestsMeterName, value = 1 } = body
  if (!isRequiredReference(customerRef) || !isRequiredReference(meterName)) return undefined
  if (!isQuantity(value)) return undefined
  const event: MeterEventInput = { customerRef, meterName, value }
  const { productRef, properties, timestamp, reservationId, reservationFinal, idempotencyKey } =
    body
  if (productRef !== undefined) {
    if (!isOptionalReference(productRef)) return undefined
    event.productRef = productRef
  }
  if (properties !== undefined) {
    if (!isJsonObject(properties)) return undefined
    event.properties = properties
  }
  if (timestamp !== undefined) {
    if (!isInstantText(timestamp)) return undefined
    event.timestamp = timestamp
  }
  if (reservationId !== undefined) {
    if (!isOptionalReference(reservationId)) return undefined
    event.reservationId = reservationId
  }
  if (reservationFinal !== undefined) {
    if (typeof reservationFinal !== 'boolean') return undefined
    event.reservationFinal = reservationFinal
  }
  if (idempotencyKey !== undefined) {
    if (!isOptionalReference(idempotencyKey)) return undefined
    event.idempotencyKey = idempotencyKey
  }
  return event
}

export function acceptMeterEventsBulk(body: unknown): MeterEventsBulkInput | undefined {
  const list = acceptList(body, bulkRecordsMax, acceptMeterEvent)
  return list && { [list.name]: list.items, ...list.flags }
}

function isQuantity(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && microsFromNumber(value) !== undefined
}
