import type { Entitlement, PeriodLimits } from '@tollgate/schemas/hot-state/documents'

type PeriodLimitsSource = Pick<
  Entitlement,
  'firstPeriod' | 'laterPeriods' | 'firstPeriodStartSecond'
>

/** Returns the cap and the unbilled limit of the period that starts at that second. */
export function limitsOfPeriod(
  entitlement: PeriodLimitsSource & Pick<Entitlement, 'cap' | 'unbilled'>,
  startSecond: number,
): Pick<Entitlement, 'cap' | 'unbilled'> {
  const { cap, unbilled } = entitlement
  const own = ownLimits(entitlement, startSecond) ?? { cap }
  if (unbilled === undefined) return { cap: own.cap }
  const raised = unbilled.raised?.startSecond === startSecond ? unbilled.raised.units : undefined
  const units = raised ?? own.unbilledUnits ?? unbilled.units
  return { cap: own.cap, unbilled: { ...unbilled, units } }
}

/** Returns the units of the period whose unused part rolls over to the next period, in 10^-6 units. */
export function rollOverLimitOfPeriod(
  entitlement: PeriodLimitsSource & Pick<Entitlement, 'rollOver'>,
  startSecond: number,
): bigint {
  const own = ownLimits(entitlement, startSecond)
  return BigInt(own?.rollOverLimit ?? entitlement.rollOver?.limit ?? 0)
}

/**
 * Returns the limits that apply only to this period. Returns undefined if the limits that are published for every
 * period apply.
 */
function ownLimits(
  { firstPeriod, laterPeriods, firstPeriodStartSecond }: PeriodLimitsSource,
  startSecond: number,
): PeriodLimits | undefined {
  return startSecond === firstPeriodStartSecond ? firstPeriod : laterPeriods
}

type Published = Pick<Entitlement, 'cap' | 'unbilled' | 'rollOver'>

/** Returns the published limits of a purchase whose first period has different limits. See `laterPeriods`. */
export function splitLimits(
  every: Published,
  first: PeriodLimits,
): Published & Pick<Entitlement, 'firstPeriod' | 'laterPeriods'> {
  const { cap, unbilled, rollOver } = every
  const laterPeriods: PeriodLimits = {
    cap,
    ...(rollOver === undefined ? {} : { rollOverLimit: rollOver.limit }),
    ...(unbilled === undefined ? {} : { unbilledUnits: unbilled.units }),
  }
  const least = (of: string, ofFirst: string | undefined): string =>
    ofFirst !== undefined && BigInt(ofFirst) < BigInt(of) ? ofFirst : of
  return {
    cap: cap === null ? first.cap : least(cap, first.cap ?? undefined),
    ...(unbilled === undefined
      ? {}
      : { unbilled: { ...unbilled, units: least(unbilled.units, first.unbilledUnits) } }),
    ...(rollOver === undefined
      ? {}
      : { rollOver: { ...rollOver, limit: least(rollOver.limit, first.rollOverLimit) } }),
    firstPeriod: first,
    laterPeriods,
  }
}
