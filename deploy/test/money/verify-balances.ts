import { sumCredited } from '@tollgate/domain/invoices/credit-notes'
import { sumCharged } from '@tollgate/domain/invoices/decide-refund-credit'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { expect } from 'vitest'
import type { ProcessorState } from '../../../stripe-simulator/test/at-processor.ts'
import type { Books } from './books.ts'

/** What was returned to balances, and what refunds have taken from there again. */
export type Returned = {
  /** Returned to the balance, by payment or, if there is none, by invoice. */
  readonly toBalance: ReadonlyMap<string, bigint>
  /** Taken from the balance, by the processor's id of the refund. */
  readonly fromBalance: ReadonlyMap<string, bigint>
}

export async function readReturned({ sql, providerId }: Books): Promise<Returned> {
  const to = await sql<{ invoice: string; intent: string | null; amount: bigint }[]>`
    select invoice_ref as invoice, intent_ref as intent, sum(amount)::bigint as amount
    from requested_refunds where provider_id = ${providerId} and goes_to = 'balance' group by 1, 2`
  const from = await sql<{ id: string; amount: bigint }[]>`
    select processor_refund_id as id, from_balance as amount from payment_refunds
    where provider_id = ${providerId}`
  const toBalance = to.flatMap(({ invoice, intent, amount }): [string, bigint][] => [
    [invoice, amount],
    ...(intent === null ? [] : ([[intent, amount]] as [string, bigint][])),
  ])
  return {
    toBalance: new Map(toBalance),
    fromBalance: new Map(from.map(({ id, amount }) => [id, amount])),
  }
}

/**
 * Checks that nothing is returned twice: each invoice is credited by at most what it charges, the money of its refunds is credited by
 * its notes or taken from the balance, and the balances are those of the ledger.
 */
export async function verifyBalances(
  books: Books,
  invoices: readonly InvoiceWithLines[],
  processor: ProcessorState,
): Promise<void> {
  await verifyCarried(books)
  await verifyItems(books)
  await verifyRequests(books, processor)
  for (const invoice of invoices) await verifyReturnedOnce(books, invoice)
}

async function verifyCarried({ sql, providerId }: Books): Promise<void> {
  const differing = await sql`
    select customer_ref, currency, kept.amount, posted.amount as posted from (
      select customer_ref, currency, amount from carried_amounts where provider_id = ${providerId}
    ) as kept full join (
      select customer_ref, unit as currency, sum(amount) as amount from ledger_entries
      where provider_id = ${providerId} and account = 'carried' group by 1, 2
    ) as posted using (customer_ref, currency)
    where coalesce(kept.amount, 0) <> coalesce(posted.amount, 0)`
  expect([...differing], 'balances').toEqual([])
  const held = await sql`
    select customer_ref, currency, kept.held, open.held as of_payments from (
      select customer_ref, currency, held from carried_amounts where provider_id = ${providerId}
    ) as kept full join (
      select customer_ref, currency, sum(balance_part) as held from payment_intents
      where provider_id = ${providerId} and status not in ('succeeded', 'canceled', 'failed')
      group by 1, 2
    ) as open using (customer_ref, currency)
    where coalesce(kept.held, 0) <> coalesce(open.held, 0)`
  expect([...held], 'held credits').toEqual([])
}

/**
 * Checks that each item is a line of the invoice that charges it, and that no line charges another one. An invoice that the provider
 * has issued has lines of its own.
 */
async function verifyItems({ sql, providerId }: Books): Promise<void> {
  const charged = await sql<{ invoice_ref: string; count: number }[]>`
    select invoice_ref, count(*)::int from invoice_items
    where provider_id = ${providerId} and invoice_ref is not null group by 1 order by 1`
  const lines = await sql<{ invoice_ref: string; count: number }[]>`
    select invoice_ref, count(*)::int from invoice_lines
    where provider_id = ${providerId} and kind = 'item' and not exists (
      select from invoice_decisions as issued
      where issued.provider_id = ${providerId} and issued.kind = 'issued'
        and issued.invoice_ref = invoice_lines.invoice_ref)
    group by 1 order by 1`
  expect([...lines], 'lines of items').toEqual([...charged])
}

/** Checks that each request to the card has one refund at the processor, unless it was refused, and no refund has two requests. */
async function verifyRequests(
  { sql, providerId }: Books,
  { refunds }: ProcessorState,
): Promise<void> {
  const requests = await sql<
    { reference: string; status: string; amount: bigint; id: string | null }[]
  >`
    select reference, status, amount, processor_refund_id as id from requested_refunds
    where provider_id = ${providerId} and goes_to = 'card'`
  const made = refunds.filter(({ metadata }) => metadata['tollgate_refund'] !== undefined)
  const asMade = made.map((each) => `${each.metadata['tollgate_refund']} ${each.id} ${each.amount}`)
  const done = requests.filter(({ status }) => status !== 'refused')
  expect(done.map(({ reference, id, amount }) => `${reference} ${id} ${amount}`).sort()).toEqual(
    asMade.sort(),
  )
}

async function verifyReturnedOnce(
  { sql, providerId }: Books,
  { reference, lines, status }: InvoiceWithLines,
): Promise<void> {
  const { chargedMinor, creditedMinor } = sumCharged(
    lines,
    await sumCredited(sql, providerId, reference),
  )
  // An invoice of a cheaper plan is a credit itself.
  const mostMinor = chargedMinor > 0n ? chargedMinor : 0n
  if (status !== 'void') expect(creditedMinor, reference).toBeLessThanOrEqual(mostMinor)
  // A refund of an amount that was carried over from an earlier invoice has no note on this one. The value of used credits is lost.
  const isUncredited = lines.some(
    ({ inputs, amountMinor }) =>
      inputs.kind === 'credits' || (inputs.kind === 'carried_in' && amountMinor > 0n),
  )
  if (isUncredited) return
  const [refunds] = await sql<{ total: string }[]>`
    select coalesce(sum(entry.amount), 0)::text as total
    from ledger_transactions as posted join ledger_entries as entry
      on entry.provider_id = posted.provider_id and transaction_ref = posted.reference
    where posted.provider_id = ${providerId} and invoice_ref = ${reference} and account = 'refunds'
      -- The credit note follows when the refund has succeeded.
      and not exists (select from payment_refunds where payment_refunds.provider_id = ${providerId}
        and payment_refunds.status = 'pending'
        and transaction_key = 'refund:' || processor_refund_id || ':pending')`
  expect(refunds!.total, `refunds of ${reference} without a credit`).toBe('0')
}
