import { invoiceName } from '../invoice-name.ts'
import { cardName } from '../card-name.ts'
import type { Checkout } from './checkout.ts'
import type { DoneRow } from './done-card.tsx'
import { chargeWords } from './next-charge.ts'
import type { Done, Receipt } from './read-done.ts'

/** Returns the rows about the purchase, the payment and its card, the next charge, and the invoice. */
export function doneRows(checkout: Checkout, { given, receipt, savedCard, next }: Done): DoneRow[] {
  const { t, formats } = checkout.frame
  const name = given.kind === 'plan' ? given.purchase.productName : undefined
  const plan = given.kind === 'plan' || given.kind === 'scheduled' ? given.plan : undefined
  const paidWith = receipt?.intent.paidWith ?? undefined
  const card = paidWith ?? (next === undefined ? undefined : savedCard)
  const ends = given.kind === 'plan' && given.isRunning ? given.purchase.endDate : null
  const trialEnds =
    given.kind === 'plan' && given.purchase.status === 'trialing'
      ? given.purchase.nextBillingDate
      : null
  return [
    ...(name === undefined ? [] : [{ label: t('checkout:product'), value: name }]),
    ...(plan === undefined ? [] : [{ label: t('checkout:plan'), value: plan.name }]),
    ...(given.kind === 'nothing' && receipt === undefined ? [] : [paidRow(checkout, receipt)]),
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
                {chargeWords(next, checkout.frame)}
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

export function paidRow({ frame }: Checkout, receipt: Receipt | undefined): DoneRow {
  const { t, formats } = frame
  const value =
    receipt === undefined
      ? t('checkout:nothing')
      : formats.money(receipt.intent.originalAmountMinor, receipt.intent.currency)
  return { label: t('checkout:paidToday'), value }
}

export function invoiceRows(checkout: Checkout, receipt: Receipt | undefined): DoneRow[] {
  if (receipt?.invoice === undefined || receipt.invoice.status === 'draft') return []
  const { intent, invoice } = receipt
  const href = `${checkout.path}/paid/${intent.reference}/invoice`
  const value = <a href={href}>{invoiceName(checkout, invoice)}</a>
  return [{ label: checkout.frame.t('checkout:invoice'), value }]
}
