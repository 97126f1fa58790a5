import type { Customer } from '@tollgate/domain/customers/repository'
import { addItem } from '@tollgate/domain/invoice-decisions/add-item'
import { payOutBalance } from '@tollgate/domain/invoice-decisions/pay-out-balance'
import { listRefundsOfPayout } from '@tollgate/domain/payments/requested-refunds-repository'
import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import { sendRefund } from '@tollgate/domain/settlement/send-refund'
import type { CrashingService } from './crashing-service.ts'
import type { Shop } from './shop.ts'
import type { Act } from './story.ts'

/** The provider and the customer about whom it decides. */
type Seller = {
  readonly shop: Pick<Shop, 'providerId'>
  readonly customer: Pick<Customer, 'reference'>
}

/** Pays out the balance of the customer, and sends its refunds to the processor, as by the API. */
export async function payOut(
  service: CrashingService,
  { shop, customer }: Seller,
  { goesTo, isPart }: Extract<Act, { readonly do: 'pay out' }>,
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

/** Agrees the price of a period of a plan with the customer, as by the API. */
export async function agreeAPrice(
  service: CrashingService,
  { shop, customer }: Seller & { readonly shop: Shop },
  { plan, price }: Extract<Act, { readonly do: 'agree a price' }>,
): Promise<void> {
  const names = { customerRef: customer.reference, productRef: shop.productRef }
  const prices = [{ planRef: shop.planRefs[plan], price }]
  const overrides = { charges: [], usageLimits: [], prices }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    changeOverrides(work, names, overrides),
  )
}

/** Adds a line to the next invoice of the customer. */
export async function addAnItem(
  service: CrashingService,
  { shop, customer }: Seller,
): Promise<void> {
  const line = { description: 'Work', unitMinor: 333n, quantity: '1.5' }
  const request = { customerRef: customer.reference, currency: 'USD', line, reason: 'decided' }
  await service.parts.commit(service.operation(shop.providerId), (work) => addItem(work, request))
}
