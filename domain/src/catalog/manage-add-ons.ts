import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addOnFaults } from './add-on-faults.ts'
import type { AddOn, AddOnTerms } from './add-on.ts'
import { deleteAddOn, insertAddOn, lockAddOn, updateAddOn } from './add-ons-repository.ts'
import { listPlans } from './plans-repository.ts'
import { lockProductAgainstRemoval } from './products-repository.ts'

export type AddOnOutcome =
  | { readonly kind: 'stored'; readonly addOn: AddOn }
  | { readonly kind: 'product-not-found' }
  | { readonly kind: 'add-on-not-found' }
  | { readonly kind: 'invalid'; readonly issues: readonly ValidationIssue[] }

/** Creates an add-on. Its currency and billing cycle are those of its plans. */
export async function createAddOn(
  work: UnitOfWork,
  productRef: string,
  terms: AddOnTerms,
): Promise<AddOnOutcome> {
  const { sql, providerId, now } = work
  const product = await lockProductAgainstRemoval(sql, providerId, productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  const checked = await checkTerms(work, productRef, terms)
  if (checked.kind !== 'valid') return checked
  const addOn: AddOn = {
    ...terms,
    ...checked.sale,
    ...{ reference: generateReference('addOn'), productRef },
    ...{ firstAttachedAt: null, archivedAt: null, createdAt: now, updatedAt: now },
  }
  await insertAddOn(sql, providerId, addOn)
  return { kind: 'stored', addOn }
}

/**
 * Changes an add-on for customers who attach it afterwards. Purchases keep the terms with which it was attached. The product is locked
 * before the add-on, as everywhere.
 */
export async function changeAddOn(
  work: UnitOfWork,
  { productRef, addOnRef }: AddOnName,
  change: Partial<AddOnTerms>,
): Promise<AddOnOutcome> {
  const { sql, providerId, now } = work
  const isChecked = change.planRefs !== undefined || change.raises !== undefined
  const hasProduct =
    !isChecked || (await lockProductAgainstRemoval(sql, providerId, productRef)) !== undefined
  const stored = await lockAddOn(sql, providerId, productRef, addOnRef)
  if (stored === undefined) return { kind: 'add-on-not-found' }
  if (!hasProduct) return { kind: 'product-not-found' }
  const changed = { ...stored, ...change, updatedAt: now }
  const checked = isChecked ? await checkTerms(work, productRef, changed) : undefined
  if (checked !== undefined && checked.kind !== 'valid') return checked
  const addOn = { ...changed, ...checked?.sale }
  await updateAddOn(sql, providerId, addOn)
  return { kind: 'stored', addOn }
}

/**
 * Archives an add-on that a customer has or had, and deletes any other add-on. An archived add-on stays with its purchases and cannot be
 * attached. Returns undefined if there is no such add-on.
 */
export async function removeAddOn(
  { sql, providerId, now }: UnitOfWork,
  { productRef, addOnRef }: AddOnName,
): Promise<'archived' | 'deleted' | undefined> {
  const addOn = await lockAddOn(sql, providerId, productRef, addOnRef)
  if (addOn === undefined) return undefined
  if (addOn.firstAttachedAt === null) {
    await deleteAddOn(sql, providerId, addOnRef)
    return 'deleted'
  }
  if (addOn.archivedAt === null) {
    await updateAddOn(sql, providerId, { ...addOn, archivedAt: now, updatedAt: now })
  }
  return 'archived'
}

export type AddOnName = { readonly productRef: string; readonly addOnRef: string }

type CheckedTerms =
  | {
      readonly kind: 'valid'
      readonly sale: Pick<AddOn, 'currency' | 'billingCycle' | 'billingCycleDays'>
    }
  | Extract<AddOnOutcome, { kind: 'invalid' }>

/** Checks the terms against the plans of a product that the caller has locked. */
async function checkTerms(
  { sql, providerId }: UnitOfWork,
  productRef: string,
  terms: AddOnTerms,
): Promise<CheckedTerms> {
  const plans = await listPlans(sql, providerId, [productRef])
  const issues = addOnFaults(terms, plans)
  const plan = plans.find(({ reference }) => terms.planRefs.includes(reference))
  const { billingCycle, billingCycleDays = null } = plan?.terms ?? {}
  // A missing plan and a plan without a cycle are among the issues.
  if (plan === undefined || billingCycle === undefined || issues.length > 0) {
    return { kind: 'invalid', issues }
  }
  return { kind: 'valid', sale: { currency: plan.currency, billingCycle, billingCycleDays } }
}
