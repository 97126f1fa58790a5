import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { lockChargedMeters } from '../catalog/plan-context.ts'
import { listPlans } from '../catalog/plans-repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { givesAccess } from './access.ts'
import { findDecidingPurchase } from './repository.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { nextHistory } from '../overrides/next-history.ts'
import { overrideFaults } from '../overrides/override-faults.ts'
import type { Overrides, OverridesVersion } from '../overrides/overrides.ts'
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
  const issues = await findFaults(work, names, overrides)
  if (issues.length > 0) return { kind: 'invalid', issues }
  const history = await findOverrides(sql, providerId, customerRef, productRef)
  const versions = nextHistory(history, overrides, now)
  if (versions === undefined) return { kind: 'too-many-changes' }
  const [first, ...later] = versions
  if (first !== undefined && versions !== history) {
    await saveOverrides(sql, providerId, names, [first, ...later], now)
    await queuePublication(work, 'customer', customerRef)
  }
  return { kind: 'changed', current: versions.at(-1) }
}

async function findFaults(
  { sql, providerId, now }: UnitOfWork,
  { customerRef, productRef }: { readonly customerRef: string; readonly productRef: string },
  overrides: Overrides,
): Promise<ValidationIssue[]> {
  if (overrides.charges.length === 0 && overrides.usageLimits.length === 0) return []
  const purchase = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const plans = await listPlans(sql, providerId, [productRef])
  const held = purchase !== undefined && givesAccess(purchase, now) ? purchase.planSnapshot : null
  return overrideFaults(overrides, {
    held: held ?? undefined,
    plans: plans.filter(({ status }) => status !== 'archived'),
    meters: await lockChargedMeters(sql, providerId, [{ usageLimits: overrides.usageLimits }]),
  })
}
