import type { Database } from '@tollgate/platform/database/database'
import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { decideOnInvoice } from '../src/invoice-decisions/decide-on-invoice.ts'
import type { DecisionOutcome, InvoiceChange } from '../src/invoice-decisions/invoice-decision.ts'
import { payInvoice } from '../src/invoices/settle-invoice.ts'
import { insertIntent, updateIntent } from '../src/payments/intents-repository.ts'
import { refundMetadataKey } from '../src/payments/payment-intent.ts'
import { listRefundsOfInvoice, type InvoiceRefund } from '../src/payments/refunds-of-invoice.ts'
import { lockPurchase } from '../src/purchases/repository.ts'
import { applyRefund } from '../src/settlement/apply-refund.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoicing, price } from './invoicing.ts'
import { createTestIntent } from './test-intent.ts'

let providers = 0
let refunds = 0

/** A new provider with a customer whose renewals are paid by card, and the refunds that the processor reports. */
export async function openRefundWorld(database: Database) {
  const providerId = `prv_refunds_${providers++}`
  const [customer] = (await createPurchases(database, providerId, 1)) as [BilledCustomer]
  const of = invoicing(database, providerId, customer)

  function decide(
    invoiceRef: string,
    change: InvoiceChange,
    idempotencyKey: string | null = null,
  ): Promise<DecisionOutcome> {
    return inWork(database, providerId, (work) =>
      decideOnInvoice({ ...work, idempotencyKey }, { invoiceRef, change, reason: 'decided' }),
    )
  }

  /** Issues a renewal of which a part was paid outside and the rest by card. Returns its reference. */
  async function paidRenewal(amounts: readonly number[], outside = 0): Promise<string> {
    const invoiceRef = await of.bill({ lines: amounts.map(price) })
    if (outside > 0) {
      await decide(invoiceRef, { kind: 'paid_outside', amountMinor: BigInt(outside) })
    }
    const { totalMinor, carriedMinor, paidMinor } = await of.look(invoiceRef)
    const amountMinor = totalMinor - carriedMinor - paidMinor
    if (amountMinor > 0n) await payByCard(invoiceRef, amountMinor)
    return invoiceRef
  }

  /** Gives the customer a credit on the balance, which pays the next invoice first. */
  async function giveCredit(amountMinor: number): Promise<void> {
    const invoiceRef = await of.charge(amountMinor)
    await decide(invoiceRef, { kind: 'paid_outside' })
    await decide(invoiceRef, { kind: 'credited' })
  }

  async function payByCard(invoiceRef: string, amountMinor: bigint): Promise<void> {
    const reference = intentOf(invoiceRef)
    const fields = { purpose: 'usage_billing', currency: 'USD', amountMinor } as const
    const intent = createTestIntent(
      { reference, ...fields, ...customer, invoiceRef, originalAmountMinor: amountMinor },
      billedAt,
    )
    await of.change(invoiceRef, async (work, invoice) => {
      await insertIntent(work.sql, providerId, intent)
      const paid = { ...intent, processorPaymentId: `pi_${reference}`, succeededAt: billedAt }
      await updateIntent(work.sql, providerId, { ...paid, status: 'succeeded' })
      await payInvoice(work, invoice, { chargeRef: reference, amountMinor })
    })
  }

  /** Reports the states of a refund of the payment. Each is reported twice, which must change nothing. */
  async function report(
    intentRef: string,
    refund: Refund,
    statuses: readonly Refund['status'][] = ['succeeded'],
  ): Promise<void> {
    for (const status of statuses.flatMap((each) => [each, each])) {
      await inWork(database, providerId, (work) =>
        applyRefund(work, intentRef, { ...refund, status }),
      )
    }
  }

  return {
    providerId,
    customer,
    of,
    decide,
    paidRenewal,
    giveCredit,
    report,
    statusOfPurchase: async () =>
      (
        await inWork(database, providerId, ({ sql }) =>
          lockPurchase(sql, providerId, customer.purchaseRef),
        )
      )?.status,
    refundsOf: (invoiceRef: string): Promise<InvoiceRefund[]> =>
      inWork(database, providerId, ({ sql }) => listRefundsOfInvoice(sql, providerId, invoiceRef)),
  }
}

export type RefundWorld = Awaited<ReturnType<typeof openRefundWorld>>

export function intentOf(invoiceRef: string): string {
  return `txn_${invoiceRef}`
}

/** Returns a new refund as the processor has it. `requestRef`: the request that it answers. */
export function refundAtProcessor(amountMinor: bigint, requestRef?: string): Refund {
  return {
    kind: 'refund',
    id: `re_${refunds++}`,
    status: 'succeeded',
    amountMinor,
    currency: 'USD',
    chargeId: undefined,
    paymentIntentId: undefined,
    reason: undefined,
    pendingReason: undefined,
    failureReason: undefined,
    settlement: undefined,
    failureSettlement: undefined,
    metadata: requestRef === undefined ? {} : { [refundMetadataKey]: requestRef },
    createdAt: billedAt,
  }
}
