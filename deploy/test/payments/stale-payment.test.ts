import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { openParts, paymentPartsOf } from '@tollgate/billing-runner/open-parts'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
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
