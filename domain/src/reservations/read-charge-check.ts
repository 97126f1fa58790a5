import type { Environment } from '@tollgate/schemas/environment'
import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import { spendableMicros, readWallet } from '../wallet/read-wallet.ts'
import {
  entitlementOfPeriod,
  hasCharges,
  limitedMeter,
  metersToRead,
  type ChargeCheck,
  type ChargedEntitlement,
  type MeterUsage,
} from '../entitlements/charge-limits.ts'
import { readCountedMeters, type CountedMeters } from '../entitlements/counted-meters-reader.ts'
import type { CountedUsage } from '../entitlements/counted-usage-reader.ts'
import {
  currentPeriod,
  windowOfPeriod,
  type EntitledPeriod,
} from '../entitlements/counting-windows.ts'
import { packUnits } from '../entitlements/pack-units.ts'
import type { Caller } from '../entitlements/shared-tail.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
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

/** A charged period, and the document of the customer's entry from which it was read. */
export type PublishedPeriod = ChargedPeriod & { readonly document: string | undefined }

/** The names of a request that say which meter the call uses. */
export type MeterNames = Pick<LimitsRequest, 'meterName' | 'usageType'>

/** Publications between two readings of one check that are followed before it is refused. */
const replacementsMax = 5

/**
 * Reads what decides about a call. The counters of all meters and the wallet are read together, so that a hot state behind a
 * network answers in one round trip.
 *
 * The purchase may be replaced between the reading that found `published` and this one. The counters then belong to the windows of
 * the new purchase, so its terms decide, and they are read again. Returns undefined if the new plan has no charges. Throws
 * UsageBehindError if the counters do not catch up in time.
 */
export async function readChargeCheck(
  parts: UsageParts,
  query: ChargeCheckQuery,
  published: PublishedPeriod,
  names: MeterNames,
): Promise<ChargeCheck | undefined> {
  let current = published
  for (let tries = 0; tries <= replacementsMax; tries += 1) {
    const attempt = await readOnce(parts, query, current, names)
    if (attempt.kind === 'read') return attempt.check
    if (attempt.by === undefined) return undefined
    current = attempt.by
  }
  throw new UsageBehindError(0)
}

type Attempt =
  | { readonly kind: 'read'; readonly check: ChargeCheck }
  /** Another document was read. `by` is undefined if its plan has no charges. */
  | { readonly kind: 'replaced'; readonly by: PublishedPeriod | undefined }

async function readOnce(
  parts: UsageParts,
  query: ChargeCheckQuery,
  published: PublishedPeriod,
  names: MeterNames,
): Promise<Attempt> {
  const { document, ...charged } = published
  const meterName = limitedMeter(charged.entitlement, names)
  const meters = metersToRead(charged.entitlement, meterName, charged.nowSecond)
  const [read, creditMicros] = await Promise.all([
    meters.length === 0 ? undefined : readCountedMeters(parts, query, meters),
    readCredits(parts, query, charged.entitlement),
  ])
  if (read?.isMixed === true) return { kind: 'replaced', by: published }
  if (read !== undefined && read.document !== document) {
    return { kind: 'replaced', by: replacement(charged, read) }
  }
  const usedByMeter = usedIn(charged, read?.usage ?? new Map())
  return { kind: 'read', check: { ...charged, meterName, usedByMeter, creditMicros } }
}

function usedIn(
  { entitlement, period, nowSecond }: ChargedPeriod,
  usage: ReadonlyMap<string, CountedUsage>,
): Map<string, MeterUsage> {
  const window = windowOfPeriod(entitlement, period.startSecond)
  const nowMs = nowSecond * 1_000
  return new Map(
    Array.from(usage, ([meterName, { amounts, spans }]) => {
      const packs = packUnits(entitlement, meterName, period, amounts, nowMs)
      return [meterName, { periodMicros: amounts.get(window) ?? 0n, spans, packs }]
    }),
  )
}

/** Returns the period of the entry that was published meanwhile, or undefined if its plan has no charges. */
function replacement(
  { nowSecond }: ChargedPeriod,
  { document, entitlement }: CountedMeters,
): PublishedPeriod | undefined {
  const period = entitlement && currentPeriod(entitlement, nowSecond * 1_000)
  if (entitlement === undefined || period === undefined) return undefined
  const charged = entitlementOfPeriod(entitlement, period)
  return hasCharges(charged) ? { document, entitlement: charged, period, nowSecond } : undefined
}

async function readCredits(
  parts: UsageParts,
  { environment, providerId, waitMs }: ChargeCheckQuery,
  { customerRef, credit }: ChargedEntitlement,
): Promise<bigint> {
  if (credit === null) return 0n
  return spendableMicros(await readWallet(parts, { environment, providerId, customerRef }, waitMs))
}
