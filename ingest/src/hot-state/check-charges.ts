import {
  answerChargeCheck,
  isDenied,
  limitStates,
} from '@tollgate/domain/entitlements/charge-limits'
import {
  readChargeCheck,
  type PublishedPeriod,
} from '@tollgate/domain/reservations/read-charge-check'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { UsageParts } from '@tollgate/domain/entitlements/usage-query'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { LimitDecision } from '../domain/limit-decision.ts'
import type { OfferReader } from './offer-reader.ts'

export type ChargeCheckParts = UsageParts & {
  readonly offers: OfferReader
  readonly waitMs: number
  readonly tailRecordsMax: number
}

/** Answers a limit check of a plan with charges. */
export async function checkCharges(
  parts: ChargeCheckParts,
  holder: KeyHolder,
  request: LimitsRequest,
  charged: PublishedPeriod,
  caller: Caller | undefined,
): Promise<LimitDecision> {
  const { environment, providerId } = holder
  const { customerRef, productRef, includeLimits: isDetailed = false } = request
  const { waitMs, tailRecordsMax } = parts
  const query = { environment, providerId, customerRef, productRef, waitMs, tailRecordsMax, caller }
  const check = await readChargeCheck(parts, query, charged, request)
  if (check === undefined) return { kind: 'unknown' }
  const states = limitStates(check)
  const offer = isDenied(states) ? await parts.offers.read(holder, productRef) : undefined
  if (isDenied(states) && offer === undefined) return { kind: 'unknown' }
  return {
    kind: 'answered',
    response: answerChargeCheck({ ...check, states, isDetailed, offer }),
  }
}
