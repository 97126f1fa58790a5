import type { AddOn } from '@tollgate/domain/catalog/add-on'
import { listAddOns } from '@tollgate/domain/catalog/add-ons-repository'
import { attachedTo, quantityOf } from '@tollgate/domain/plans/add-ons'
import { addOnsAhead } from '@tollgate/domain/purchases/carry-add-ons'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { listedAddOnsMax } from '@tollgate/schemas/limits'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

export type OfferedAddOn = {
  readonly addOn: AddOn
  /** The quantity that the purchase has now. 0 if the add-on is not attached. */
  readonly quantity: number
  /** The quantity after the next renewal. */
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
    quantityOf(attached, reference) > 0 || quantityOf(ahead, reference) > 0
  const offered = (await list(false)).addOns.filter(
    (addOn) => isHeld(addOn) || (addOn.planRefs.includes(planRef) && addOn.currency === currency),
  )
  const archived = (await list(true)).addOns.filter(isHeld)
  return [...offered, ...archived].map((addOn) => ({
    addOn,
    quantity: quantityOf(attached, addOn.reference),
    quantityAhead: quantityOf(ahead, addOn.reference),
  }))
}
