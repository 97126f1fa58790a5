import type { AddOn } from '@tollgate/domain/catalog/add-on'
import { listAddOns } from '@tollgate/domain/catalog/add-ons-repository'
import { attachedTo } from '@tollgate/domain/plans/add-ons'
import type { AttachedAddOn } from '@tollgate/domain/plans/plan'
import { addOnsAhead } from '@tollgate/domain/purchases/carry-add-ons'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { listedAddOnsMax } from '@tollgate/schemas/limits'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

export type OfferedAddOn = {
  readonly addOn: AddOn
  /** Its number beside the plan now, and after the next renewal. */
  readonly quantity: number
  readonly quantityAhead: number
}

/** Returns the add-ons that the customer can attach to the purchase, or has. Empty for a purchase without access or periods. */
export async function readOfferedAddOns(
  pages: ReadParts,
  { caller }: Portal,
  purchase: Purchase,
  now: Date,
): Promise<OfferedAddOn[]> {
  const { planSnapshot: plan, productRef, planRef, currency } = purchase
  if (plan === null || planRef === null || !givesAccess(purchase, now)) return []
  const { providerId } = caller
  const page = { limit: listedAddOnsMax, offset: 0 }
  const list = (isArchived: boolean) =>
    read(pages, caller, (sql) => listAddOns(sql, providerId, { productRef, isArchived }, page))
  const attached = attachedTo(plan)
  const ahead = addOnsAhead(purchase) ?? attached
  const isHeld = ({ reference }: AddOn) =>
    [...attached, ...ahead].some((each) => each.reference === reference)
  const offered = (await list(false)).addOns.filter(
    (addOn) => isHeld(addOn) || (addOn.planRefs.includes(planRef) && addOn.currency === currency),
  )
  const archived = (await list(true)).addOns.filter(isHeld)
  return [...offered, ...archived].map((addOn) => ({
    addOn,
    quantity: quantityOf(attached, addOn),
    quantityAhead: quantityOf(ahead, addOn),
  }))
}

function quantityOf(attached: readonly AttachedAddOn[], { reference }: AddOn): number {
  return attached.find((each) => each.reference === reference)?.quantity ?? 0
}
