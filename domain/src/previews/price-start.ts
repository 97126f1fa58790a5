import { priceWithTax, readBalanceUse } from '../charging/sell-from-balance.ts'
import type { Customer } from '../customers/repository.ts'
import type { Plan } from '../plans/plan.ts'
import { creditLines } from '../pricing/charges.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { givesAccess } from '../purchases/access.ts'
import { decideSwitch, type PlanSwitch } from '../purchases/decide-switch.ts'
import { movedPurchase } from '../purchases/move-purchase.ts'
import { newPaidPurchase, newSwitchedPurchase, switchPrice } from '../purchases/new-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { planSale } from '../purposes/invoice-sale.ts'
import { listPriceOf } from '../payments/taxed-terms.ts'
import { priceRequest, type PricedRequest } from '../settlement/price-request.ts'
import type { PlanStart, StartFacts } from './plan-start.ts'
import type { PreviewAt, PreviewParts } from './preview-invoices.ts'

export type PricedStart =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'priced'; readonly start: PlanStart }

/** Prices the payment with which the plan begins, as the request for that payment does. */
export async function priceStart(
  parts: Pick<PreviewParts, 'database'>,
  at: PreviewAt,
  { input, product }: StartFacts,
  paid: { readonly customer: Customer; readonly plan: Plan; readonly currency: string | undefined },
): Promise<PricedStart> {
  const { customer, plan, currency } = paid
  const priced = await priceRequest(parts, at, {
    ...{ customer, currency, purpose: 'product' },
    ...{ productRef: product.reference, planRef: plan.reference, amountMinor: undefined },
    ...{ description: undefined, checkoutSessionId: undefined, recharge: undefined },
    ...{ keepsCard: false, idempotencyKey: '' },
  })
  if (priced.kind === 'refused') return priced
  if (priced.kind !== 'priced') return { kind: 'refused', reason: 'The plan cannot be bought' }
  const { last, isFirstCharge, now, lastDiscounts: periodDiscounts } = input
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  const change =
    priced.planSwitch === undefined
      ? undefined
      : decideSwitch({ held, plan, isFirstCharge, currency, at: now, periodDiscounts })
  const made = change === undefined ? paidPurchase : switchedPurchase(change)
  const purchase = made({ customer, product, plan, now, cycleMode: priced.cycleMode }, priced)
  const { providerId, environment } = at
  const rows = parts.database.of(providerId).in(environment)
  const fromBalanceMinor = await rows.read((sql) =>
    readBalanceUse({ sql, providerId }, customer.reference, priced),
  )
  return { kind: 'priced', start: paidStart(plan, change, { priced, fromBalanceMinor }, purchase) }
}

type Sale = Parameters<typeof newPaidPurchase>[0]

function paidPurchase(sale: Sale, { terms }: PricedRequest): Purchase {
  const { amountMinor, originalAmountMinor, currency, exchangeRate } = terms
  const price = {
    ...{ currency, exchangeRate, amountMinor: Number(amountMinor) },
    originalAmountMinor: Number(originalAmountMinor),
  }
  return movedPurchase(newPaidPurchase(sale, price), 'paid', {}, sale.now)
}

function switchedPurchase(change: PlanSwitch) {
  return ({ cycleMode: _mode, ...sale }: Sale, { terms }: PricedRequest): Purchase => {
    const price = switchPrice(change.plan, terms.currency, terms.exchangeRate)
    return { ...newSwitchedPurchase(sale, change, price), paidAt: sale.now }
  }
}

function paidStart(
  plan: Plan,
  change: PlanSwitch | undefined,
  {
    priced,
    fromBalanceMinor,
  }: { readonly priced: PricedRequest; readonly fromBalanceMinor: bigint },
  purchase: Purchase,
): PlanStart {
  const { terms, tax, discounts } = priced
  const isPaidByBalance = fromBalanceMinor === priceWithTax(priced)
  const { credits, currency, originalAmountMinor: priceMinor } = terms
  const listPriceMinor = listPriceOf(priceMinor, discounts)
  const lines =
    change?.lines ??
    (credits === null
      ? planSale(plan, purchase, currency, listPriceMinor, discounts).lines
      : creditLines(plan, credits, priceMinor))
  const cause = change === undefined ? 'first_payment' : 'plan_change'
  const paidWith = tax === null ? 'no tax' : { rule: tax, isInclusive: tax.isInclusive }
  const hasPrice = (pricesIn(plan, currency)?.priceMinor ?? 0n) > 0n
  return {
    ...{ plan, change, needs: isPaidByBalance ? 'nothing' : 'payment' },
    invoice: { cause, currency, lines, paidWith, fromBalanceMinor },
    // A payment for credits, or only for a set-up fee, does not pay the price of a period.
    isPaidInFull: change === undefined && credits === null && hasPrice,
    start: async () => purchase,
  }
}
