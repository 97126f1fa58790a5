import { creditInvoice, type CreditNote } from '@tollgate/domain/invoices/credit-notes'
import { jobActor } from '@tollgate/domain/audit/actor'
import type { InvoiceParties, InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { listLines } from '@tollgate/domain/invoices/lines'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { issueInvoice } from '@tollgate/domain/invoices/issue-invoice'
import type { InvoicePayment } from '@tollgate/domain/payments/payments'
import { createDraft } from '@tollgate/domain/invoices/create-draft'
import { invoiceLine, totalOf, type InvoiceLine } from '@tollgate/domain/pricing/invoice-line'

import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { ownKeyPath, type OwnKeyBody } from '@tollgate/schemas/http/own-key'
import type { TestStack } from './test-stack.ts'

const period = { start: new Date('2026-06-01T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') }
const reading = {
  meterName: 'requests',
  watermark: '2026-07-01T00:05:00.000Z',
  nextOffsets: { '0': '17' },
}

const tiers = [
  { upTo: '500', creditsPerUnit: '50' },
  { upTo: '2000', creditsPerUnit: '30' },
  { upTo: null, creditsPerUnit: '10' },
]

/** Returns one line of each kind, from the contract's own example, in the currency. */
export function sampleLines(currency: string): InvoiceLine[] {
  const terms = {
    limit: '1000',
    freeUnits: '0',
    overage: { maxUnits: null },
    rate: { kind: 'graduated', tiers },
  } as const
  const counted = {
    terms,
    carriedOverUnits: '0',
    conversion: { currency, unitsPerDollar: '1' },
    reading,
  } as const
  return [
    invoiceLine({ kind: 'recurring', amountMinor: '4900' }, 'Pro', period),
    invoiceLine({ kind: 'setup_fee', amountMinor: '500' }, 'Pro, set-up fee', null),
    invoiceLine({ kind: 'usage', usedUnits: '3500', ...counted }, 'Pro, usage', period),
    invoiceLine(
      { kind: 'late_usage', usedUnits: '3500', lateUnits: '12.5', ...counted },
      'Pro, usage recorded late',
      period,
    ),
    invoiceLine({ kind: 'carried_in', amountMinor: '30' }, 'From earlier invoices', null),
  ]
}

export function sampleInvoice(change: Partial<InvoiceWithLines> = {}): InvoiceWithLines {
  const { currency = 'USD' } = change
  const lines = change.lines ?? sampleLines(currency)
  const issuedAt = new Date('2026-07-01T08:00:00Z')
  return {
    reference: 'inv_ABCDEFGH1234',
    number: 42n,
    status: 'open',
    customerRef: 'cus_abcdefgh1234',
    purchaseRef: 'pur_1',
    planSnapshot: null,
    currency,
    totalMinor: totalOf(lines),
    carriedMinor: 0n,
    paidMinor: 0n,
    creditedMinor: 0n,
    refundedMinor: 0n,
    isHeld: false,
    failedCharges: 0,
    nextChargeAt: null,
    countedFailure: null,
    parties: {
      seller: {
        name: 'Åkerlund & Żółć AB',
        country: 'SE',
        companyNumber: '556677-8899',
        taxId: 'SE556677889901',
        supportEmail: 'billing@example.com',
        address: 'Kungsgatan 12\n111 43 Stockholm',
      },
      buyer: {
        reference: 'cus_abcdefgh1234',
        name: 'Ada Lovelace, Αθήνα и Киев',
        email: 'ada@example.com',
      },
      productName: 'Weather API',
    },
    issuedAt,
    dueAt: null,
    paidAt: null,
    closedAt: null,
    createdAt: issuedAt,
    updatedAt: issuedAt,
    ...change,
    lines,
  }
}

export const samplePayment: InvoicePayment = {
  reference: 'txn_1',
  amountMinor: 5_600n,
  paidAt: new Date('2026-07-03T00:00:00Z'),
  paidWith: { brand: 'visa', last4: '4242', expMonth: 8, expYear: 2034 },
  dispute: null,
}

export const sampleNote: CreditNote = {
  reference: 'crn_1',
  number: 1n,
  invoiceRef: 'inv_ABCDEFGH1234',
  customerRef: 'cus_abcdefgh1234',
  currency: 'USD',
  totalMinor: 500n,
  settles: 'invoice',
  refundRef: null,
  voidedAt: null,
  reason: 'The set-up fee was waived',
  createdAt: new Date('2026-07-02T08:00:00Z'),
  lines: [{ line: 1, amountMinor: 500n }],
}

async function operationOf(stack: TestStack, key: string): Promise<Operation> {
  const { providerId, environment } = (await stack.call<OwnKeyBody>(key, 'GET', ownKeyPath)).body
  const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
  return { providerId, environment, now: new Date(stack.clock.now()), ...by }
}

/** Credits the set-up fee of the sample invoice. Returns the reference of the credit note. */
export async function creditSample(
  stack: TestStack,
  key: string,
  invoiceRef: string,
): Promise<string> {
  const operation = await operationOf(stack, key)
  const { result } = await runUnitOfWork(stack.database, operation, async (work) => {
    const invoice = await lockInvoice(work.sql, work.providerId, invoiceRef)
    const lines = await listLines(work.sql, work.providerId, invoiceRef)
    const fee = { lines: [{ line: 1, amountMinor: 500n }], reason: 'The set-up fee was waived' }
    return creditInvoice(work, { ...invoice!, lines }, { ...fee, settles: 'invoice' })
  })
  if (result.kind !== 'credited') throw new Error(`refused: ${result.kind}`)
  return result.note.reference
}

/** Issues an invoice to a customer of the key's provider, in the key's environment. Returns its reference. */
export async function issueSample(
  stack: TestStack,
  key: string,
  customerRef: string,
  lines: readonly InvoiceLine[] = sampleLines('USD').slice(0, 4),
  parties: InvoiceParties = sampleInvoice().parties!,
): Promise<string> {
  const operation = await operationOf(stack, key)
  const charged = {
    customerRef,
    purchaseRef: null,
    planSnapshot: null,
    currency: 'USD',
    claims: [],
  }
  const { result } = await runUnitOfWork(stack.database, operation, async (work) => {
    const made = await createDraft(work, { ...charged, lines })
    if (made.kind === 'already-billed') throw new Error('nothing else was billed')
    return issueInvoice(work, made.invoice, parties)
  })
  return result.reference
}
