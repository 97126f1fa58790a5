import { isPlainObject } from '../json-object.ts'
import { reservationSecondsMax } from '../limits.ts'
import { microsFromNumber } from '../quantity.ts'
import { isOptionalReference, isRequiredReference, type Fields } from './accept-fields.ts'
import type { LimitsRequest } from './limits.ts'

/** Returns the result of `limitsRequestSchema` for an ordinary valid body, otherwise undefined: the schema decides. */
export function acceptLimits(body: unknown): LimitsRequest | undefined {
  if (!isPlainObject(body)) return undefined
  const { customerRef, productRef, meterName, usageType, includeCheckoutSession = false } = body
  if (!isRequiredReference(customerRef) || !isRequiredReference(productRef)) return undefined
  if (typeof includeCheckoutSession !== 'boolean') return undefined
  const request: LimitsRequest = { customerRef, productRef, includeCheckoutSession }
  if (meterName !== undefined) {
    if (!isOptionalReference(meterName)) return undefined
    request.meterName = meterName
  }
  if (usageType !== undefined) {
    if (!isOptionalReference(usageType)) return undefined
    request.usageType = usageType
  }
  const { includeLimits } = body
  if (includeLimits !== undefined) {
    if (typeof includeLimits !== 'boolean') return undefined
    request.includeLimits = includeLimits
  }
  return addReserve(request, body) ? request : undefined
}

/** Copies the fields to the request. Returns false if the schema must decide about one of them. */
function addReserve(request: LimitsRequest, { reserve, idempotencyKey }: Fields): boolean {
  if (idempotencyKey !== undefined) {
    if (!isOptionalReference(idempotencyKey)) return false
    request.idempotencyKey = idempotencyKey
  }
  if (reserve === undefined) return true
  if (!isPlainObject(reserve)) return false
  const { units, estimate, credits, ttlSeconds } = reserve
  if (estimate !== undefined || credits !== undefined) return false
  if (!isPositiveQuantity(units) || !isReservationSeconds(ttlSeconds)) return false
  request.reserve = { units, ttlSeconds }
  return true
}

function isPositiveQuantity(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && microsFromNumber(value) !== undefined
}

function isReservationSeconds(value: unknown): value is number {
  const seconds = value as number
  return Number.isInteger(value) && seconds >= 1 && seconds <= reservationSecondsMax
}
