import type { FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import type { Clock } from '@tollgate/platform/clock/clock'
import { read, type ReadParts } from '../../access/read.ts'
import { accountAccessOf } from './account-routes.ts'
import { cardName } from '../card-name.ts'
import { checkoutOf } from './checkout.ts'
import { ResultCard } from './result-card.tsx'
import { invoiceRows, paidRow } from './result-rows.tsx'
import { chargeText, nextChargeOfPurchase } from './next-charge.ts'
import { readDebts } from './read-debts.ts'
import { readReceipt } from './read-result.ts'
import { taxedCharge } from './taxed-charge.ts'

type Parts = ReadParts & { readonly clock: Clock; readonly basePath: string }

/**
 * The page after the payment of an earlier invoice on a checkout. It shows what was paid, which purchases are active again, and
 * what remains to be done.
 */
export async function debtPaidPage(
  pages: Parts,
  request: FastifyRequest,
  intent: PaymentIntent,
): Promise<ReactElement> {
  const checkout = checkoutOf(request)
  const { caller, session, status, frame } = checkout
  const { t } = frame
  const { customerRef, productRef } = session
  const { receipt, held } = await read(pages, caller, async (sql) => ({
    receipt: await readReceipt(sql, caller.providerId, intent),
    held:
      productRef === null
        ? undefined
        : await findDecidingPurchase(sql, caller.providerId, customerRef, productRef),
  }))
  const unpaidCount = (await readDebts(pages, checkout)).length
  const plan = held?.planSnapshot ?? null
  const isRunning = held !== undefined && givesAccess(held, new Date(pages.clock.now()))
  const runningPlan = isRunning && plan !== null ? { purchase: held, plan } : undefined
  const next = await taxedCharge(
    pages,
    checkout,
    runningPlan && nextChargeOfPurchase(runningPlan.purchase),
    { purchaseRef: held?.reference ?? null },
  )
  const paidWith = intent.paidWith
  const isChosen = session.planRef !== null && runningPlan?.plan.reference === session.planRef
  const canContinue = status === 'active' && !isChosen
  return (
    <ResultCard
      checkout={checkout}
      title={t('checkout:invoicePaid')}
      text={
        unpaidCount > 0
          ? t('checkout:invoicesLeft', { count: unpaidCount })
          : runningPlan && t('checkout:planRuns', { plan: runningPlan.plan.name })
      }
      rows={[
        paidRow(checkout, receipt),
        ...(paidWith === null
          ? []
          : [{ label: t('checkout:card'), value: cardName(paidWith, frame) }]),
        ...invoiceRows(checkout, receipt),
        ...(next === undefined
          ? []
          : [{ label: t('checkout:nextCharge'), value: chargeText(next, frame) }]),
      ]}
      account={accountAccessOf(pages, request, intent.succeededAt ?? undefined)}
      payment={intent.reference}
    >
      {canContinue && (
        <a className="button main" href={checkout.path}>
          {t(unpaidCount > 0 ? 'checkout:payNext' : 'checkout:choosePlan')}
        </a>
      )}
    </ResultCard>
  )
}
