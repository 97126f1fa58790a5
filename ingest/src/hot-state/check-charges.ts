import {
  answerChargeCheck,
  blockingLimit,
  chargeLimits,
  metersToRead,
  type ChargeCheck,
  type ChargedEntitlement,
} from '@tollgate/domain/entitlements/charge-limits'
import { readCountedUsage } from '@tollgate/domain/entitlements/counted-usage-reader'
import { windowOfPeriod, type EntitledPeriod } from '@tollgate/domain/entitlements/counting-windows'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { UsageParts } from '@tollgate/domain/entitlements/usage-query'
import { spendableMicros, readWallet } from '@tollgate/domain/wallet/read-wallet'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { LimitDecision } from '../domain/limit-decision.ts'
import { readOffer } from './read-offer.ts'

export type ChargeCheckParts = UsageParts & {
  readonly waitMs: number
  readonly tailRecordsMax: number
}

export type ChargedPeriod = {
  readonly entitlement: ChargedEntitlement
  readonly period: EntitledPeriod
}

/**
 * Answers a limit check of a plan with charges. The counters of its meters and the wallet are read together, so that a hot state
 * behind a network answers in one round trip.
 */
export async function checkCharges(
  parts: ChargeCheckParts,
  holder: KeyHolder,
  request: LimitsRequest,
  { entitlement, period }: ChargedPeriod,
  caller: Caller | undefined,
): Promise<LimitDecision> {
  const { meterName, includeLimits: isDetailed = false } = request
  const asked = meterName === '' ? undefined : meterName
  const [usedByMeter, creditMicros] = await Promise.all([
    readMeters(parts, holder, request, { entitlement, period }, asked, caller),
    readCredits(parts, holder, entitlement),
  ])
  const check: ChargeCheck = { entitlement, period, meterName: asked, usedByMeter, creditMicros }
  const limits = chargeLimits(check)
  const isDenied = blockingLimit(limits) !== undefined
  const offer = isDenied ? await readOffer(parts.hotState, holder, request.productRef) : undefined
  if (isDenied && offer === undefined) return { kind: 'unknown' }
  const response = answerChargeCheck({ ...check, limits, isDetailed, offer })
  return { kind: 'answered', response }
}

async function readMeters(
  parts: ChargeCheckParts,
  { environment, providerId }: KeyHolder,
  { customerRef, productRef }: LimitsRequest,
  { entitlement, period }: ChargedPeriod,
  asked: string | undefined,
  caller: Caller | undefined,
): Promise<ReadonlyMap<string, bigint>> {
  const { waitMs, tailRecordsMax } = parts
  const window = windowOfPeriod(entitlement, period.startSecond)
  const query = { environment, providerId, customerRef, productRef, waitMs, tailRecordsMax, caller }
  const used = metersToRead(entitlement, asked).map(async (meterName) => {
    const { amounts } = await readCountedUsage(parts, { ...query, meterName })
    return [meterName, amounts.get(window) ?? 0n] as const
  })
  return new Map(await Promise.all(used))
}

async function readCredits(
  parts: ChargeCheckParts,
  { environment, providerId }: KeyHolder,
  { customerRef, credit }: ChargedEntitlement,
): Promise<bigint> {
  if (credit === null) return 0n
  const wallet = await readWallet(parts, { environment, providerId, customerRef }, parts.waitMs)
  return spendableMicros(wallet)
}
