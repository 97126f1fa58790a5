import { isPlainObject } from '../json-object.ts'
import { bulkRecordsMax, usageUnitsMax } from '../limits.ts'
import type { Outcome } from '../meter-event.ts'
import { outcomes } from '../meter-event.ts'
import {
  acceptList,
  isInstantText,
  isJsonObject,
  isLongText,
  isOptionalReference,
  isRequiredReference,
} from './accept-fields.ts'
import type { UsageInput, UsagesBulkInput } from './usages.ts'
import { actionTypes } from './usages.ts'

const actionTypeSet: ReadonlySet<unknown> = new Set(actionTypes)
const outcomeSet: ReadonlySet<unknown> = new Set(outcomes)

/** Returns the result of `usageSchema` for an ordinary valid body, otherwise undefined: the schema decides. */
export function acceptUsage(body: unknown): UsageInput | undefined {
  if (!isPlainObject(body)) return undefined
  const { customerRef, actionType = 'api_call', units = 1, outcome = 'success' } = body
  if (!isRequiredReference(customerRef)) return undefined
  if (!actionTypeSet.has(actionType) || !outcomeSet.has(outcome)) return undefined
  if (!isUnits(units)) return undefined
  const usage: UsageInput = {
    customerRef,
    actionType: actionType as UsageInput['actionType'],
    units,
    outcome: outcome as Outcome,
  }
  return addReferences(usage, body) && addDetails(usage, body) ? usage : undefined
}

export function acceptUsagesBulk(body: unknown): UsagesBulkInput | undefined {
  const list = acceptList(body, bulkRecordsMax, acceptUsage)
  return list && { [list.name]: list.items, ...list.flags }
}

function isUnits(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= usageUnitsMax
}

/** Copies the fields to the usage. Returns false if the schema must decide about one of them. */
function addReferences(usage: UsageInput, body: Readonly<Record<string, unknown>>): boolean {
  const { productRef, purchaseRef, idempotencyKey, reservationId, reservationFinal } = body
  if (productRef !== undefined) {
    if (!isOptionalReference(productRef)) return false
    usage.productRef = productRef
  }
  if (purchaseRef !== undefined) {
    if (!isOptionalReference(purchaseRef)) return false
    usage.purchaseRef = purchaseRef
  }
  if (idempotencyKey !== undefined) {
    if (!isOptionalReference(idempotencyKey)) return false
    usage.idempotencyKey = idempotencyKey
  }
  if (reservationId !== undefined) {
    if (!isOptionalReference(reservationId)) return false
    usage.reservationId = reservationId
  }
  if (reservationFinal !== undefined) {
    if (typeof reservationFinal !== 'boolean') return false
    usage.reservationFinal = reservationFinal
  }
  return true
}

function addDetails(usage: UsageInput, body: Readonly<Record<string, unknown>>): boolean {
  const { description, errorMessage, metadata, duration, timestamp } = body
  if (description !== undefined) {
    if (!isLongText(description)) return false
    usage.description = description
  }
  if (errorMessage !== undefined) {
    if (!isLongText(errorMessage)) return false
    usage.errorMessage = errorMessage
  }
  if (metadata !== undefined) {
    if (!isJsonObject(metadata)) return false
    usage.metadata = metadata
  }
  if (duration !== undefined) {
    if (!Number.isFinite(duration) || (duration as number) < 0) return false
    usage.duration = duration as number
  }
  if (timestamp !== undefined) {
    if (!isInstantText(timestamp)) return false
    usage.timestamp = timestamp
  }
  return true
}
