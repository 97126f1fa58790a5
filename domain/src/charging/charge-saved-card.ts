import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { findInvoice } from '../invoices/repository.ts'
import { findLastCharge } from '../payments/attempts-repository.ts'
import { executeAttempt } from '../settlement/execute-attempt.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { reconcileIntent } from '../settlement/reconcile-intent.ts'
import { jobOperation } from '../unit-of-work/job-operation.ts'
import { beginCharge, beginFirstCharge } from './begin-charge.ts'
import type { BegunCharge, ChargeInvoice, ChargeOutcome, InvoiceCharge } from './charge-invoice.ts'
import { countableFailureOf, chargeFailureOf } from './decide-charge.ts'

/** Creates the function that charges the cards which customers saved at the payment processor. */
export function createSavedCardCharger(parts: Omit<PaymentParts, 'commit'>): ChargeInvoice {
  const charge: ChargeInvoice = async (invoiceCharge, commit, begun) => {
    if (parts.processors.of(invoiceCharge.environment) === undefined) return { kind: 'pending' }
    const committing: PaymentParts = { ...parts, commit: (_operation, body) => commit(body) }
    try {
      return await chargeSavedCard(committing, invoiceCharge, begun)
    } catch (error) {
      if (error instanceof PaymentProcessorUnavailableError) return { kind: 'pending' }
      throw error
    }
  }
  const begin: ChargeInvoice['begin'] = async (work, invoice, purchase) =>
    parts.processors.of(work.environment) === undefined
      ? undefined
      : await beginFirstCharge(work, invoice, purchase)
  return Object.assign(charge, { begin })
}

/**
 * Charges the saved card for an invoice. An invoice has one payment, each charge is an attempt of that payment, and a
 * payment succeeds at most once. The payment and the parameters of the call are committed before the call, so after a
 * crash the next run finds and continues them.
 */
async function chargeSavedCard(
  parts: PaymentParts,
  charge: InvoiceCharge,
  begunBefore: BegunCharge | undefined,
): Promise<ChargeOutcome> {
  const { providerId, environment, invoiceRef, now } = charge
  const operation = jobOperation('charges', { providerId, environment }, now)
  const begun = begunBefore ?? (await parts.commit(operation, (work) => beginCharge(work, charge)))
  switch (begun.kind) {
    case 'known':
      return begun.outcome
    case 'reconcile':
      await reconcileIntent(parts, operation, begun.intentRef)
      break
    case 'send': {
      const result = await executeAttempt(parts, operation, begun.intent, begun.attempt)
      const isPaid = result.kind === 'answered' && result.intent.status === 'succeeded'
      if (isPaid && !result.intent.refundWanted) return { kind: 'booked' }
    }
  }
  const rows = parts.database.of(providerId).in(environment)
  return rows.read(async (sql): Promise<ChargeOutcome> => {
    const invoice = await findInvoice(sql, providerId, invoiceRef)
    if (invoice?.status === 'paid') return { kind: 'paid' }
    const last = await findLastCharge(sql, providerId, invoiceRef)
    const outcome = charge.isOffSchedule ? chargeFailureOf(last) : countableFailureOf(last)
    return outcome ?? { kind: 'pending' }
  })
}
