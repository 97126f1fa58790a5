import { chargeNow } from '@tollgate/domain/closing/bill-now'
import { readOpenInvoices } from '@tollgate/domain/closing/open-amounts'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import { addDiscount } from '@tollgate/domain/invoice-decisions/add-discount'
import { addItem } from '@tollgate/domain/invoice-decisions/add-item'
import { issueOneOff } from '@tollgate/domain/invoice-decisions/issue-one-off'
import { payOutBalance } from '@tollgate/domain/invoice-decisions/pay-out-balance'
import { listRefundsOfPayout } from '@tollgate/domain/payments/requested-refunds-repository'
import { sendRefund } from '@tollgate/domain/settlement/send-refund'
import { environment } from './environment.ts'
import type { Seller } from './seller.ts'
import type { CrashingService } from './crashing-service.ts'
import type { Extras, ShopOf } from './shop.ts'
import { moveGrants, scheduleGrants } from './grant-credits.ts'
import { setSupport } from './support-add-on.ts'
import { findHeld } from './change-terms.ts'
import { decideOnNewest } from './decide-on-newest.ts'
import type { ProviderAct } from './provider-act.ts'

/** The seller and what it sells. */
export type Selling = Seller & {
  readonly shop: ShopOf<string> & Extras
}

/** An act that changes neither terms nor usage. */
export type SellerAct = Exclude<
  ProviderAct<string>,
  { readonly do: 'schedule' | 'withdraw the change' | 'migrate' | 'correct' | 'backfill' }
>

/** Plays an act of the provider about the customer. The service may refuse it. */
export async function actAsSeller(
  service: CrashingService,
  seller: Selling,
  act: SellerAct,
): Promise<void> {
  switch (act.do) {
    case 'decide':
      return decideOnNewest(service, seller, act)
    case 'pay out':
      return payOut(service, seller, act)
    case 'add an item':
      return addAnItem(service, seller)
    case 'issue an invoice':
      return issueAnInvoice(service, seller)
    case 'collect':
      return collect(service, seller)
    case 'set the support':
      await setSupport(service, seller, act)
      return
    case 'grant credits':
      return scheduleGrants(service, seller, act)
    case 'move the grants':
      return moveGrants(service, seller, act)
    case 'give a coupon': {
      const held = act.isForPurchase ? await findHeld(service, seller) : undefined
      if (act.isForPurchase && held === undefined) return
      const couponRef = seller.shop.couponRefs[act.coupon]
      return giveCoupon(service, seller, { couponRef, purchaseRef: held?.reference ?? null })
    }
  }
}

/** Pays out the balance of the customer, and sends its refunds to the processor, as by the API. */
async function payOut(
  service: CrashingService,
  { shop, customer }: Seller,
  { goesTo, isPart }: Extract<ProviderAct<string>, { readonly do: 'pay out' }>,
): Promise<void> {
  const operation = service.operation(shop.providerId)
  const request = {
    ...{ customerRef: customer.reference, currency: 'USD', goesTo, reason: 'decided' },
    amountMinor: isPart ? 150n : undefined,
  }
  const refunds = await service.parts.commit(operation, async (work) => {
    const outcome = await payOutBalance(work, request)
    if (outcome.kind !== 'paid-out') return []
    return listRefundsOfPayout(work.sql, work.providerId, outcome.payout.reference)
  })
  for (const { reference } of refunds) await sendRefund(service.parts, operation, reference)
}

const line = { description: 'Work', unitMinor: 333n, quantity: '1.5' }

/** Adds a line to the next invoice of the customer. */
async function addAnItem(service: CrashingService, { shop, customer }: Seller): Promise<void> {
  const request = { customerRef: customer.reference, currency: 'USD', line, reason: 'decided' }
  await service.parts.commit(service.operation(shop.providerId), (work) => addItem(work, request))
}

/** Issues an invoice of a line, which the billing runner charges. */
async function issueAnInvoice(service: CrashingService, { shop, customer }: Seller): Promise<void> {
  const request = {
    ...{ customerRef: customer.reference, currency: 'USD', lines: [line] },
    ...{ dueAt: null, reason: 'decided' },
  }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    issueOneOff(work, request, { name: 'Acme' }),
  )
}

/** Charges the saved card of the customer for its oldest open invoice now, as by the API. */
async function collect(service: CrashingService, { shop, customer }: Seller): Promise<void> {
  const { database, commit } = service.parts
  const operation = service.operation(shop.providerId)
  const rows = database.of(shop.providerId).in(environment)
  const { invoices } = await rows.read((sql) =>
    readOpenInvoices(sql, shop.providerId, customer.reference),
  )
  const [oldest] = invoices
  if (oldest === undefined) return
  const charge = createSavedCardCharger(service.parts)
  await chargeNow({ database, commit, charge }, operation, oldest)
}

/** Gives the customer the discount of a coupon, for one purchase or for all invoices. */
async function giveCoupon(
  service: CrashingService,
  { shop, customer }: Seller,
  { couponRef, purchaseRef }: { readonly couponRef: string; readonly purchaseRef: string | null },
): Promise<void> {
  const redemption = { couponRef, customerRef: customer.reference, purchaseRef }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    addDiscount(work, redemption),
  )
}
