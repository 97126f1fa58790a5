import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { lockChargedMeters } from '../catalog/plan-context.ts'
import { listPlans } from '../catalog/plans-repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { periodAt, wholeSecond } from '../periods/periods.ts'
import { cycleOf, givesAccess } from './access.ts'
import { findDecidingPurchase, type Purchase } from './repository.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { nextHistory } from '../overrides/next-history.ts'
import { overrideFaults, withCurrencies } from '../overrides/override-faults.ts'
import { limitsToSet, type Overrides, type OverridesVersion } from '../overrides/overrides.ts'
import { findOverrides, saveOverrides } from '../overrides/repository.ts'

export type ChangeOverridesOutcome =
  | { readonly kind: 'changed'; readonly current: OverridesVersion | undefined }
  | { readonly kind: 'customer-not-found' }
  | { readonly kind: 'invalid'; readonly issues: readonly ValidationIssue[] }
  | { readonly kind: 'too-many-changes' }

/**
 * Replaces a customer's overrides of a product. Limits and caps act as soon as the change is published, which is before the response.
 * Prices and included units apply to periods that begin from now on.
 */
export async function changeOverrides(
  work: UnitOfWork,
  names: { readonly customerRef: string; readonly productRef: string },
  overrides: Overrides,
): Promise<ChangeOverridesOutcome> {
  const { sql, providerId, now } = work
  const { customerRef, productRef } = names
  // A purchase of the customer takes the same lock, so that it is published after the change or reads it.
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) {
    return { kind: 'customer-not-found' }
  }
  const purchase = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const held = purchase !== undefined && givesAccess(purchase, now) ? purchase : undefined
  const { issues, overrides: stated } = await checkOverrides(work, names, overrides, held)
  if (issues.length > 0) return { kind: 'invalid', issues }
  const history = await findOverrides(sql, providerId, customerRef, productRef)
  const versions = nextHistory(history, stated, now, beginsNow(held, now))
  if (versions === undefined) return { kind: 'too-many-changes' }
  const [first, ...later] = versions
  if (first !== undefined && versions !== history) {
    await saveOverrides(sql, providerId, names, [first, ...later], now)
    await queuePublication(work, 'customer', customerRef)
  }
  return { kind: 'changed', current: versions.at(-1) }
}

/** Returns whether a period of the purchase began in this second, so that its price may be charged already. */
function beginsNow(held: Purchase | undefined, now: Date): boolean {
  if (held === undefined) return false
  const cycle = cycleOf(held)
  const starts = [held.startDate, ...(cycle === undefined ? [] : [periodAt(cycle, now).start])]
  return starts.some((start) => start.getTime() === wholeSecond(now).getTime())
}

/** Returns the faults of the overrides, and the overrides with the currencies of their prices. */
async function checkOverrides(
  { sql, providerId }: UnitOfWork,
  { productRef }: { readonly customerRef: string; readonly productRef: string },
  overrides: Overrides,
  held: Purchase | undefined,
): Promise<{ readonly issues: readonly ValidationIssue[]; readonly overrides: Overrides }> {
  const { charges, usageLimits, prices = [] } = overrides
  if ([charges, usageLimits, prices].every(({ length }) => length === 0)) {
    return { issues: [], overrides }
  }
  const listed = await listPlans(sql, providerId, [productRef])
  const plans = listed.filter(({ status }) => status !== 'archived')
  const heldPlan = held?.planSnapshot ?? undefined
  const stated = withCurrencies(prices, heldPlan === undefined ? plans : [heldPlan, ...plans])
  const priced = { ...overrides, prices: stated.prices }
  const faults = overrideFaults(priced, {
    held: heldPlan,
    plans,
    meters: await lockChargedMeters(sql, providerId, [{ usageLimits: limitsToSet(usageLimits) }]),
  })
  return { issues: [...faults, ...stated.faults], overrides: priced }
}
