import { expect } from 'vitest'
import type { ProcessorState } from '../../../stripe-simulator/test/at-processor.ts'
import { environment } from '../money/environment.ts'
import type { MoneyWorld } from '../money/money-world.ts'
import type { Market } from './market.ts'
import type { Player } from './player.ts'

/** Sums of one customer, in US cents, from the stored documents. */
type Documents = {
  readonly customer: string
  /** Sum of the lines of all invoices except drafts and void ones, without amounts of earlier invoices. */
  readonly charged: bigint
  readonly credited: bigint
  /** Due on invoices that are open or uncollectible. */
  readonly due: bigint
  /** Credit of the customer. Negative: an amount that was too small to be charged. */
  readonly balance: bigint
  readonly paidOutside: bigint
  readonly paidOutOutside: bigint
  /** Processor ids of the customer's payments. */
  readonly paymentIds: readonly string[]
  /** Whether money was withdrawn or returned that the documents do not credit: that of used credits, or of an earlier invoice. */
  readonly isUncredited: boolean
}

/** Reads the sums of all customers of the market. */
export async function readDocuments(
  world: MoneyWorld,
  { providerId }: Market,
): Promise<ReadonlyMap<string, Documents>> {
  const sql = world.stores.postgres.database.in(environment)
  const rows = await sql<Documents[]>`
    with issued as (
      select invoices.*, (
        select coalesce(sum(amount), 0) from invoice_lines
        where invoice_lines.provider_id = invoices.provider_id and invoice_ref = invoices.reference
          and kind <> 'carried_in') as own,
        exists (
          select from invoice_lines
          where invoice_lines.provider_id = invoices.provider_id
            and invoice_ref = invoices.reference
            and (kind = 'credits' or kind = 'carried_in' and amount > 0)) as is_uncredited
      from invoices where provider_id = ${providerId} and status not in ('draft', 'void')
    ), charges as (
      select customer_ref, sum(own)::bigint as charged,
        coalesce(sum(total - carried - paid - credited)
          filter (where status in ('open', 'uncollectible')), 0)::bigint as due,
        bool_or(is_uncredited and refunded > 0) as is_uncredited
      from issued group by 1
    ), notes as (
      select credit_notes.customer_ref, sum(credit_notes.total)::bigint as credited
      from credit_notes join issued on issued.reference = invoice_ref
      where credit_notes.provider_id = ${providerId} and voided_at is null group by 1
    ), outside as (
      select customer_ref, sum(amount)::bigint as amount
      from invoice_decisions join issued on issued.reference = invoice_ref
      where invoice_decisions.provider_id = ${providerId} and kind = 'paid_outside' group by 1
    ), payouts as (
      select customer_ref, sum(amount)::bigint as amount from balance_payouts
      where provider_id = ${providerId} and goes_to = 'other' group by 1
    ), payments as (
      select customer_ref, array_agg(processor_payment_id) as ids, bool_or(exists (
        select from payment_disputes
        where payment_disputes.provider_id = ${providerId} and intent_ref = reference)) as disputed
      from payment_intents
      where provider_id = ${providerId} and processor_payment_id is not null group by 1
    )
    select customers.reference as customer, coalesce(charged, 0) as charged,
      coalesce(credited, 0) as credited, coalesce(due, 0) as due,
      -coalesce(carried.amount, 0)::bigint as balance,
      coalesce(outside.amount, 0) as "paidOutside",
      coalesce(payouts.amount, 0) as "paidOutOutside", coalesce(ids, '{}') as "paymentIds",
      coalesce(is_uncredited, false) or coalesce(disputed, false) as "isUncredited"
    from customers
    left join charges on charges.customer_ref = customers.reference
    left join notes on notes.customer_ref = customers.reference
    left join outside on outside.customer_ref = customers.reference
    left join payouts on payouts.customer_ref = customers.reference
    left join payments on payments.customer_ref = customers.reference
    left join carried_amounts as carried on carried.provider_id = ${providerId}
      and carried.customer_ref = customers.reference
    where customers.provider_id = ${providerId}`
  return new Map(rows.map((row) => [row.customer, row]))
}

/**
 * Checks that the customer has paid what its documents say: payments less returned money are the charges of its invoices, less credit
 * notes and open amounts, plus its balance. Money moves at the processor, outside of it, and by payouts.
 */
export function expectSettled(
  { customer }: Player,
  documents: ReadonlyMap<string, Documents>,
  { charges, refunds }: ProcessorState,
): void {
  const own = documents.get(customer.reference)!
  if (own.isUncredited) return
  const ids = new Set(own.paymentIds)
  const paid = charges
    .filter((charge) => charge.status === 'succeeded' && ids.has(charge.payment_intent))
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const returned = refunds
    .filter(({ status, payment_intent: id }) => status === 'succeeded' && ids.has(id))
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const { charged, credited, due, balance, paidOutside, paidOutOutside } = own
  const money = paid - returned + paidOutside - paidOutOutside
  const told = JSON.stringify({ ...own, paid, returned }, (_, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  )
  expect(money, told).toBe(charged - credited - due + balance)
}
