import type { Database } from '@tollgate/platform/database/database'
import { readCarried } from '../src/invoices/carried-amounts.ts'
import type { InvoiceParties, InvoiceWithLines } from '../src/invoices/invoice.ts'
import { issueInvoice } from '../src/invoices/issue-invoice.ts'
import { listLines } from '../src/invoices/lines.ts'
import { createDraft, type DraftOutcome } from '../src/invoices/create-draft.ts'
import { findInvoice, lockInvoice } from '../src/invoices/repository.ts'
import { periodOf } from '../src/periods/periods.ts'
import { invoiceLine, type ChargedPeriod, type InvoiceLine } from '../src/pricing/invoice-line.ts'
import type { ChargedPart } from '../src/pricing/split-charges.ts'
import type { UnitOfWork } from '../src/unit-of-work/unit-of-work.ts'
import { billedAt, inWork, type BilledCustomer } from './billed-customers.ts'

/* Test operations on invoices of one provider, most of them of one customer. */

export const parties: InvoiceParties = {
  seller: { name: 'Acme', country: 'SE', companyNumber: null, taxId: null, supportEmail: null },
  buyer: { reference: 'cus_1', name: 'Ada', email: 'ada@example.com' },
}

const monthly = { anchor: billedAt, billingCycle: 'monthly', mode: 'calendar' } as const

export function month(index: number): ChargedPeriod {
  const { start, end } = periodOf(monthly, index)
  return { start, end }
}

export function price(amountMinor: bigint | number): InvoiceLine {
  return invoiceLine({ kind: 'recurring', amountMinor: `${amountMinor}` }, 'Pro', month(0))
}

export type Bill = {
  readonly of?: BilledCustomer
  readonly lines: readonly InvoiceLine[]
  /** Default: a period that was not billed yet. */
  readonly period?: ChargedPeriod
  readonly parts?: readonly ChargedPart[]
  readonly currency?: string
}

export function invoicing(
  database: Database,
  providerId: string,
  customer: BilledCustomer,
  monthsBilled = 0,
) {
  let months = monthsBilled

  function draft(work: UnitOfWork, bill: Bill): Promise<DraftOutcome> {
    const { of = customer, lines, parts = ['recurring'], currency = 'USD' } = bill
    const period = bill.period ?? month((months += 1))
    const claims = parts.map((part) => ({ part, period }))
    return createDraft(work, { ...of, planSnapshot: null, currency, lines, claims })
  }

  /** Returns the reference of the invoice. */
  function bill(given: Bill): Promise<string> {
    return inWork(database, providerId, async (work) => {
      const made = await draft(work, given)
      if (made.kind === 'already-billed') return made.kind
      return (await issueInvoice(work, made.invoice, parties)).reference
    })
  }

  return {
    draft,
    bill,
    charge: (amountMinor: number, currency = 'USD') =>
      bill({ lines: [price(amountMinor)], currency }),

    look: (reference: string) =>
      inWork(database, providerId, async ({ sql }): Promise<InvoiceWithLines> => {
        const invoice = await findInvoice(sql, providerId, reference)
        return { ...invoice!, lines: await listLines(sql, providerId, reference) }
      }),

    /** Runs the body with the locked invoice. */
    change: <Result>(
      reference: string,
      body: (work: UnitOfWork, invoice: InvoiceWithLines) => Promise<Result>,
    ) =>
      inWork(database, providerId, async (work) => {
        const invoice = await lockInvoice(work.sql, providerId, reference)
        const lines = await listLines(work.sql, providerId, reference)
        return body(work, { ...invoice!, lines })
      }),

    /** Amount that is carried over to the customer's next invoice. */
    waiting: (currency = 'USD') =>
      inWork(database, providerId, ({ sql }) =>
        readCarried(sql, providerId, { customerRef: customer.customerRef, currency }),
      ),

    /** Sums of the provider's money by account, without sums of 0. */
    accounts: async (): Promise<Record<string, number>> => {
      const rows = await database.in('sandbox')<{ account: string; sum: string }[]>`
        select account, sum(amount) from ledger_entries where provider_id = ${providerId}
        group by account having sum(amount) <> 0 order by account`
      return Object.fromEntries(rows.map(({ account, sum }) => [account, Number(sum)]))
    },
  }
}
