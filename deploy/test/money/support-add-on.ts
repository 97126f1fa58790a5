import { changeAddOns } from '@tollgate/domain/billing/change-add-ons'
import { createAddOn } from '@tollgate/domain/catalog/manage-add-ons'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import { chargeNow } from '@tollgate/domain/closing/bill-now'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { findHeld, type Holding } from './change-terms.ts'
import type { CrashingService } from './crashing-service.ts'
import { operationIn } from './operation-in.ts'
import type { Stores } from './stores.ts'

/** Price of one for a month, in US cents. */
export const supportPrice = 700

/** A number of the add-on, from now or from the next period on. 0 removes it. */
export type SetSupport = {
  readonly do: 'set the support'
  readonly quantity: number
  readonly when: 'now' | 'renewal'
}

/** Adds an add-on that raises nothing, for these plans. Returns its reference. */
export async function addSupport(
  { postgres, clock }: Stores,
  { providerId, productRef }: { readonly providerId: string; readonly productRef: string },
  planRefs: readonly string[],
): Promise<string> {
  const terms = {
    ...{ name: 'Support', description: null, priceMinor: supportPrice, setupFeeMinor: 0 },
    ...{ quantityMax: null, raises: [], planRefs },
  }
  const operation = operationIn(providerId, new Date(clock.now()))
  const { result } = await runUnitOfWork(postgres.database, operation, (work) =>
    createAddOn(work, productRef, terms),
  )
  if (result.kind !== 'stored') throw new Error(JSON.stringify(result))
  return result.addOn.reference
}

/** Purchases before and after a change of the add-on, which are the same if it waits for the renewal. */
type SupportSet = { readonly beforeRef: string; readonly purchaseRef: string }

/** Changes the add-on of the purchase and charges the saved card, as by the API. Returns undefined if it is refused. */
export async function setSupport(
  service: CrashingService,
  holding: Holding & { readonly shop: { readonly supportRef: string } },
  { quantity, when }: SetSupport,
): Promise<SupportSet | undefined> {
  const held = await findHeld(service, holding)
  if (held === undefined) return undefined
  const { providerId, supportRef: addOnRef } = holding.shop
  const operation = service.operation(providerId)
  const { database, commit } = service.parts
  const wanted = { purchaseRef: held.reference, addOnRef, quantity, when }
  const outcome = await commit(operation, (work) => changeAddOns(work, wanted, { name: 'Acme' }))
  if (outcome.kind !== 'changed') return undefined
  const { invoice, purchase } = outcome
  if (invoice?.status === 'open' && dueMinor(invoice) > 0n) {
    const charge = createSavedCardCharger(service.parts)
    await chargeNow({ database, commit, charge }, operation, invoice)
  }
  return { beforeRef: held.reference, purchaseRef: purchase.reference }
}
