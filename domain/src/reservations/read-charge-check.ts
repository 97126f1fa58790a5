import type { Environment } from '@tollgate/schemas/environment'
import { spendableMicros, readWallet } from '../wallet/read-wallet.ts'
import {
  metersToRead,
  type ChargeCheck,
  type ChargedEntitlement,
} from '../entitlements/charge-limits.ts'
import { readCountedUsage } from '../entitlements/counted-usage-reader.ts'
import { windowOfPeriod, type EntitledPeriod } from '../entitlements/counting-windows.ts'
import { packUnits } from '../entitlements/pack-units.ts'
import type { Caller } from '../entitlements/shared-tail.ts'
import type { UsageParts } from '../entitlements/usage-query.ts'

export type ChargeCheckQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  readonly waitMs: number
  readonly tailRecordsMax: number
  readonly caller?: Caller | undefined
}

export type ChargedPeriod = {
  readonly entitlement: ChargedEntitlement
  readonly period: EntitledPeriod
  readonly nowSecond: number
}

/**
 * Reads what decides about a call. The counters of the meters and the wallet are read together, so that a hot state behind a
 * network answers in one round trip. `meterName` is undefined for a call that may use any meter.
 */
export async function readChargeCheck(
  parts: UsageParts,
  query: ChargeCheckQuery,
  charged: ChargedPeriod,
  meterName: string | undefined,
): Promise<ChargeCheck> {
  const { entitlement, period, nowSecond } = charged
  const window = windowOfPeriod(entitlement, period.startSecond)
  const used = metersToRead(entitlement, meterName, nowSecond).map(async (meter) => {
    const usage = await readCountedUsage(parts, { ...query, ...meter })
    const periodMicros = usage.amounts.get(window) ?? 0n
    const nowMs = nowSecond * 1000
    const packs = packUnits(entitlement, meter.meterName, period, usage.amounts, nowMs)
    return [meter.meterName, { periodMicros, spans: usage.spans, packs }] as const
  })
  const [usedByMeter, creditMicros] = await Promise.all([
    Promise.all(used),
    readCredits(parts, query, entitlement),
  ])
  return { ...charged, meterName, usedByMeter: new Map(usedByMeter), creditMicros }
}

async function readCredits(
  parts: UsageParts,
  { environment, providerId, waitMs }: ChargeCheckQuery,
  { customerRef, credit }: ChargedEntitlement,
): Promise<bigint> {
  if (credit === null) return 0n
  return spendableMicros(await readWallet(parts, { environment, providerId, customerRef }, waitMs))
}
