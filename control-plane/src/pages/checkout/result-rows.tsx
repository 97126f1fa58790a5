import { invoiceName } from '../invoice-name.ts'
import { cardName } from '../card-name.ts'
import type { Checkout } from './checkout.ts'
import type { ResultRow } from './result-card.tsx'
import { chargeText } from './next-charge.ts'
import type { CheckoutResult, Receipt } from './read-result.ts'

/** Returns the rows about the purchase, the payment and its card, the next charge, and the invoice. */
export function resultRows(
  checkout: Checkout,
  { outcome, receipt, savedCard, next }: CheckoutResult,
): ResultRow[] {
  const { t, formats } = checkout.frame
  const name = outcome.kind === 'plan' ? outcome.purchase.productName : undefined
  const plan = outcome.kind === 'plan' || outcome.kind === 'scheduled' ? outcome.plan : undefined
  const paidWith = receipt?.intent.paidWith ?? undefined
  const card = paidWith ?? (next === undefined ? undefined : savedCard)
  const ends = outcome.kind === 'plan' && outcome.isRunning ? outcome.purchase.endDate : null
  const trialEnds =
    outcome.kind === 'plan' && outcome.purchase.status === 'trialing'
      ? outcome.purchase.nextBillingDate
      : null
  return [
    ...(name === undefined ? [] : [{ label: t('checkout:product'), value: name }]),
    ...(plan === undefined ? [] : [{ label: t('checkout:plan'), value: plan.name }]),
    ...(outcome.kind === 'nothing' && receipt === undefined ? [] : [paidRow(checkout, receipt)]),
    ...(trialEnds === null
      ? []
      : [{ label: t('checkout:trialEnds'), value: formats.date(trialEnds) }]),
    ...(next === undefined
      ? []
      : [
          {
            label: t('checkout:nextCharge'),
            value: (
              <>
                {chargeText(next, checkout.frame)}
                {trialEnds !== null && savedCard === undefined && (
                  <span className="quiet"> · {t('checkout:pausesWithoutCard')}</span>
                )}
              </>
            ),
          },
        ]),
    ...(ends === null ? [] : [{ label: t('checkout:ends'), value: formats.date(ends) }]),
    ...(card === undefined
      ? []
      : [{ label: t('checkout:card'), value: cardName(card, checkout.frame) }]),
    ...invoiceRows(checkout, receipt),
  ]
}

export function paidRow({ frame }: Checkout, receipt: Receipt | undefined): ResultRow {
  const { t, formats } = frame
  const value =
    receipt === undefined
      ? t('checkout:nothing')
      : formats.money(receipt.intent.originalAmountMinor, receipt.intent.currency)
  return { label: t('checkout:paidToday'), value }
}

export function invoiceRows(checkout: Checkout, receipt: Receipt | undefined): ResultRow[] {
  if (receipt?.invoice === undefined || receipt.invoice.status === 'draft') return []
  const { intent, invoice } = receipt
  const href = `${checkout.path}/paid/${intent.reference}/invoice`
  const value = <a href={href}>{invoiceName(checkout, invoice)}</a>
  return [{ label: checkout.frame.t('checkout:invoice'), value }]
}
