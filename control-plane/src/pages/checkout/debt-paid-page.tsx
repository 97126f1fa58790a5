import type { FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import type { Clock } from '@tollgate/platform/clock/clock'
import { read, type ReadParts } from '../../access/read.ts'
import { wayToAccount } from './account-routes.ts'
import { cardName } from '../card-name.ts'
import { checkoutOf } from './checkout.ts'
import { DoneCard } from './done-card.tsx'
import { invoiceRows, paidRow } from './done-rows.tsx'
import { chargeWords, nextChargeOfPurchase } from './next-charge.ts'
import { readDebts } from './read-debts.ts'
import { readReceipt } from './read-done.ts'
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
  const left = (await readDebts(pages, checkout)).length
  const plan = held?.planSnapshot ?? null
  const isRunning = held !== undefined && givesAccess(held, new Date(pages.clock.now()))
  const runs = isRunning && plan !== null ? { purchase: held, plan } : undefined
  const next = await taxedCharge(pages, checkout, runs && nextChargeOfPurchase(runs.purchase))
  const paidWith = intent.paidWith
  const isChosen = session.planRef !== null && runs?.plan.reference === session.planRef
  const goesOn = status === 'active' && !isChosen
  return (
    <DoneCard
      checkout={checkout}
      title={t('checkout:invoicePaid')}
      text={
        left > 0
          ? t('checkout:invoicesLeft', { count: left })
          : runs && t('checkout:planRuns', { plan: runs.plan.name })
      }
      rows={[
        paidRow(checkout, receipt),
        ...(paidWith === null
          ? []
          : [{ label: t('checkout:card'), value: cardName(paidWith, frame) }]),
        ...invoiceRows(checkout, receipt),
        ...(next === undefined
          ? []
          : [{ label: t('checkout:nextCharge'), value: chargeWords(next, frame) }]),
      ]}
      account={wayToAccount(pages, request, intent.succeededAt ?? undefined)}
      payment={intent.reference}
    >
      {goesOn && (
        <a className="button main" href={checkout.path}>
          {t(left > 0 ? 'checkout:payNext' : 'checkout:choosePlan')}
        </a>
      )}
    </DoneCard>
  )
}
