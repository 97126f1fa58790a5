import type { EntitledPacks, PackedMeter } from '@tollgate/schemas/hot-state/documents'
import { byUse } from '../packs/draw-packs.ts'
import { paidIn, type PackUser } from '../packs/draw-usage.ts'
import { ownMicros } from '../packs/own-units.ts'
import { leftMicros } from '../packs/pack-balance.ts'
import type { Pack, PackAccount } from '../packs/repository.ts'
import { unixSeconds, type Period } from '../periods/periods.ts'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** The fields of a purchase that decide what packs add to its periods. */
type PackedPurchase = PackUser & ProratedPurchase & { readonly anchor: Date }

/**
 * Returns the packs that the customer may use beside the plan, by meter. `periods` are those that the entitlement lists. Undefined
 * if there are none. Units that a refund claims are left out at once, although usage before the refund may still get them.
 */
export function entitledPacks(
  purchase: PackedPurchase,
  plan: PlanSnapshot,
  account: PackAccount,
  periods: readonly Period[],
): EntitledPacks | undefined {
  const meterNames = new Set(account.packs.map(({ meterName }) => meterName))
  const meters = [...meterNames]
    .map((meterName) => packedMeter(purchase, plan, account, periods, meterName))
    .filter(({ packs, paid }) => packs.length > 0 || paid.length > 0)
  if (meters.length === 0) return undefined
  return {
    settledSecond: unixSeconds(account.settledTo),
    fromSecond: unixSeconds(purchase.anchor),
    meters,
  }
}

function packedMeter(
  purchase: PackedPurchase,
  plan: PlanSnapshot,
  account: PackAccount,
  periods: readonly Period[],
  meterName: string,
): PackedMeter {
  const own = ownMicros(plan, meterName)
  const first = ownMicros(planOfPeriod(plan, purchase, { start: purchase.startDate }), meterName)
  return {
    meterName,
    own: own?.toString() ?? null,
    ...(first === own ? {} : { ownOfFirst: first?.toString() ?? null }),
    paid: periods.flatMap((period) => {
      const { paidMicros, paidBeforeMicros } = paidIn(account.uses, purchase, period, meterName)
      const micros = paidMicros + paidBeforeMicros
      return micros === 0n
        ? []
        : [{ startSecond: unixSeconds(period.start), units: micros.toString() }]
    }),
    packs: packsInUse(account, meterName).map((pack) => ({
      units: pack.leftMicros.toString(),
      startSecond: unixSeconds(pack.startsAt),
      endSecond: pack.endsAt === null ? null : unixSeconds(pack.endsAt),
    })),
  }
}

/** Returns the packs of the meter that the entitlement lists, in its order, with what is left of each up to the last settlement. */
export function packsInUse(
  { packs, settledTo }: PackAccount,
  meterName: string,
): (Pack & { readonly leftMicros: bigint })[] {
  return packs
    .filter((pack) => pack.meterName === meterName)
    .filter(({ endsAt }) => endsAt === null || endsAt > settledTo)
    .map((pack) => ({ ...pack, leftMicros: leftMicros(pack) }))
    .filter((pack) => pack.leftMicros > 0n)
    .sort(byUse)
}
