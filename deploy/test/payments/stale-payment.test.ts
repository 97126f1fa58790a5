import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { openParts, paymentPartsOf } from '@tollgate/billing-runner/open-parts'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import { pricesAt } from '@tollgate/domain/purchases/offered-plan'
import { listPurchases } from '@tollgate/domain/purchases/repository'
import { beginAttempt, reconcileOperation } from '@tollgate/domain/settlement/reconcile-intent'
import { createLogger } from '@tollgate/platform/observability/logger'
import { expect, test } from 'vitest'
import { PaymentStack } from './payment-stack.ts'

/* Two processes act on one payment: one of them has read it before the other created it at the processor. */

test('a payment that was read before it had its id at the processor is canceled', async () => {
  const payments = await PaymentStack.start()
  const config = readBillingRunnerConfig(payments.serviceSettings)
  const { clock, database, hotState, eventLog } = payments.stack
  const logger = createLogger('billing-runner', 'silent')
  const parts = await openParts(config, { clock, database, hotState, eventLog, logger })
  try {
    const planRef = await payments.createPlan({ price: 1900 })
    const customerRef = await payments.createCustomer()
    const request = { customerRef, productRef: payments.productRef, planRef }
    const { body } = await payments.createIntent('stale', request)
    const { providerId } = payments.tenant
    const current = await findIntent(payments.sql, providerId, body.processorPaymentId)
    const stale = { ...current!, processorPaymentId: null }
    const operation = reconcileOperation(providerId, 'sandbox', new Date(clock.now()))
    const canceled = await beginAttempt(
      paymentPartsOf(config, parts),
      operation,
      stale,
      'cancel',
      {},
    )
    expect(canceled.status).toBe('canceled')
  } finally {
    await parts.close()
    await payments.stop()
  }
})

test('a payment that succeeds late does not begin a ramp again', async () => {
  // No job reads the payments from the processor. Only the requests of the test do.
  const settings = { TOLLGATE_PAYMENTS_INTERVAL_MS: '3600000' }
  const payments = await PaymentStack.start({ settings })
  try {
    const { clock } = payments.stack
    const { providerId } = payments.tenant
    clock.set('2026-03-01T00:00:00Z')
    const ramp = [
      { periods: 1, price: 1_000 },
      { periods: 1, price: 2_000 },
    ]
    const planRef = await payments.createPlan({ price: 4_000, billingCycle: 'monthly', ramp })
    const customerRef = await payments.createCustomer()
    const request = { customerRef, productRef: payments.productRef, planRef }
    const [first, late] = [
      (await payments.createIntent('first', request)).body.processorPaymentId,
      (await payments.createIntent('late', request)).body.processorPaymentId,
    ]
    await payments.confirm(late)
    await payments.confirm(first)
    await payments.process(first, customerRef)
    await payments.sql`
      update purchases set status = 'expired', ended_at = '2026-03-01T10:00:00Z',
        auto_renew = false, next_billing_date = null where customer_ref = ${customerRef}`
    clock.set('2026-03-01T12:00:00Z')
    await payments.process(late, customerRef)
    const [purchase] = await listPurchases(payments.sql, providerId, { customerRef, rowsMax: 1 })
    expect(purchase).toMatchObject({ status: 'active', firstPaidMinor: 1_000n })
    const prices = ['2026-03-02', '2026-04-02'].map((day) =>
      Number(pricesAt(purchase!, new Date(day))?.priceMinor),
    )
    expect(prices).toEqual([2_000, 4_000])
  } finally {
    await payments.stop()
  }
})
