import {
  answerChargeCheck,
  isDenied,
  limitStates,
  metersToRead,
  type ChargeCheck,
  type ChargedEntitlement,
  type MeterUsage,
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
  readonly nowSecond: number
}

/**
 * Answers a limit check of a plan with charges. The counters of its meters and the wallet are read together, so that a hot state
 * behind a network answers in one round trip.
 */
export async function checkCharges(
  parts: ChargeCheckParts,
  holder: KeyHolder,
  request: LimitsRequest,
  charged: ChargedPeriod,
  caller: Caller | undefined,
): Promise<LimitDecision> {
  const { includeLimits: isDetailed = false } = request
  const meterName = request.meterName === '' ? undefined : request.meterName
  const [usedByMeter, creditMicros] = await Promise.all([
    readMeters(parts, holder, { ...request, meterName }, charged, caller),
    readCredits(parts, holder, charged.entitlement),
  ])
  const check: ChargeCheck = { ...charged, meterName, usedByMeter, creditMicros }
  const states = limitStates(check)
  const offer = isDenied(states)
    ? await readOffer(parts.hotState, holder, request.productRef)
    : undefined
  if (isDenied(states) && offer === undefined) return { kind: 'unknown' }
  return {
    kind: 'answered',
    response: answerChargeCheck({ ...check, states, isDetailed, offer }),
  }
}

async function readMeters(
  parts: ChargeCheckParts,
  { environment, providerId }: KeyHolder,
  { customerRef, productRef, meterName: asked }: LimitsRequest,
  { entitlement, period, nowSecond }: ChargedPeriod,
  caller: Caller | undefined,
): Promise<ReadonlyMap<string, MeterUsage>> {
  const { waitMs, tailRecordsMax } = parts
  const window = windowOfPeriod(entitlement, period.startSecond)
  const query = { environment, providerId, customerRef, productRef, waitMs, tailRecordsMax, caller }
  const used = metersToRead(entitlement, asked, nowSecond).map(async ({ meterName, spans }) => {
    const usage = await readCountedUsage(parts, { ...query, meterName, spans })
    const periodMicros = usage.amounts.get(window) ?? 0n
    return [meterName, { periodMicros, spans: usage.spans }] as const
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
