import { isFields, isOptionalReference, isRequiredReference } from './accept-fields.ts'
import type { LimitsRequest } from './limits.ts'

/** What `limitsRequestSchema` makes of a plainly valid body; undefined: let the schema judge. */
export function acceptLimits(body: unknown): LimitsRequest | undefined {
  if (!isFields(body)) return undefined
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
  return request
}
