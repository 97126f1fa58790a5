import { setTimeout as sleep } from 'node:timers/promises'
import { listUnbalancedWallets } from '@tollgate/domain/wallet/ledger'
import { environments } from '@tollgate/schemas/environment'
import type { Installation } from './installation.ts'
import { notIn } from './not-in.ts'
import type { Person } from './person.ts'

/* What must hold of the whole installation, whatever has happened. Each tells what does not, in words. */

const waitMs = 60_000
const pauseMs = 20

/** Wallets, once the ledger has what was used: that takes a moment. */
export async function findWrongWallets(
  { stack }: Installation,
  people: readonly Person[],
): Promise<string[]> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const wrong: string[] = []
    for (const environment of environments) {
      const rows = await stack.database.in(environment)<{ customer: string; credits: string }[]>`
        select customer_ref as customer, (balance_micros / 1000000)::text as credits from wallets`
      const credits = new Map(rows.map((row) => [row.customer, Number(row.credits)]))
      for (const { model, reference } of people.filter(
        (each) => each.environment === environment,
      )) {
        const found = credits.get(reference) ?? 0
        if (found !== model.credits) {
          wrong.push(`${environment} ${reference} has ${found} credits, not ${model.credits}`)
        }
      }
    }
    if (wrong.length === 0 || performance.now() > deadline) return wrong
    await sleep(pauseMs)
  }
}

export async function findWrongBooks({ stack }: Installation): Promise<string[]> {
  const wrong: string[] = []
  for (const environment of environments) {
    const pool = stack.database.in(environment)
    for (const { customerRef } of await listUnbalancedWallets(pool, 10)) {
      wrong.push(`${environment} the wallet of ${customerRef} does not agree with its entries`)
    }
    const unbalanced = await pool<{ ref: string }[]>`
      select transaction_ref as ref from ledger_entries group by provider_id, transaction_ref, unit
      having sum(amount) <> 0 limit 10`
    wrong.push(...unbalanced.map(({ ref }) => `${environment} ${ref} is not balanced`))
    const gaps = await pool<{ provider_id: string }[]>`
      select provider_id from invoices where number is not null group by provider_id
      having min(number) <> 1 or max(number) <> count(*) or count(distinct number) <> count(*)`
    wrong.push(...gaps.map((row) => `${environment} numbers of ${row.provider_id} have gaps`))
    const sums = await pool<{ reference: string }[]>`
      select invoice.reference from invoices as invoice
      where invoice.total <> (select coalesce(sum(amount), 0) from invoice_lines as line
        where line.provider_id = invoice.provider_id and line.invoice_ref = invoice.reference
          and not is_contained)`
    wrong.push(...sums.map(({ reference }) => `${environment} ${reference} is not its lines`))
    const twice = await pool<{ event_id: string }[]>`
      select event_id from outbox group by event_id having count(*) > 1 limit 10`
    wrong.push(...twice.map((row) => `${environment} ${row.event_id} is told twice`))
  }
  return wrong
}

type StripeCharge = {
  readonly id: string
  readonly payment_intent: string
  readonly amount: number
  readonly amount_refunded: number
  readonly status: string
}

/**
 * The processor has charged what customers paid and what invoices say is paid, each once, and nothing else. What they
 * bought has an invoice as well.
 */
export async function findWrongCharges(
  installation: Installation,
  people: readonly Person[],
): Promise<string[]> {
  const wrong: string[] = []
  for (const environment of environments) {
    const charges = await installation.listAtStripe<StripeCharge>(environment, 'charges')
    const found = charges
      .filter(({ status }) => status === 'succeeded')
      .map((charge) => `${charge.payment_intent} ${charge.amount} less ${charge.amount_refunded}`)
    const invoices = await installation.stack.database.in(environment)<
      { payment: string; paid: string; refunded: string; isOfCharge: boolean }[]
    >`
      select intent.processor_payment_id as payment, invoice.paid::text as paid,
        invoice.refunded::text as refunded,
        coalesce(intent.purpose = 'usage_billing', true) as "isOfCharge"
      from invoices as invoice left join payment_intents as intent
        on intent.provider_id = invoice.provider_id and intent.invoice_ref = invoice.reference
        and intent.status = 'succeeded'
      where invoice.paid > 0`
    const receipts = people
      .filter((person) => person.environment === environment)
      .flatMap((person) => person.receipts)
    const bought = receipts.map(
      (each) => `${each.processorPaymentId} ${each.cents} less ${each.refundedCents}`,
    )
    const say = ({ payment, paid, refunded }: (typeof invoices)[number]) =>
      `${payment} ${paid} less ${refunded}`
    const expected = [...bought, ...invoices.filter(({ isOfCharge }) => isOfCharge).map(say)]
    const sold = invoices.filter(({ isOfCharge }) => !isOfCharge).map(say)
    wrong.push(...notIn(sold, bought).map((each) => `${environment} nobody bought: ${each}`))
    wrong.push(...notIn(bought, sold).map((each) => `${environment} without an invoice: ${each}`))
    wrong.push(...notIn(found, expected).map((each) => `${environment} charged too much: ${each}`))
    wrong.push(...notIn(expected, found).map((each) => `${environment} not charged: ${each}`))
  }
  return wrong
}

/** Usage as it is stored, record by record, is what was sent. */
export async function findWrongUsage(people: readonly Person[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { model, reference, environment, seller } of people) {
    if (model.usage.length === 0) continue
    const client = seller.clients[environment]
    const times = model.usage.map(({ at }) => at)
    const query = {
      customerRef: reference,
      from: new Date(Math.min(...times) - 1_000).toISOString(),
      to: new Date(Math.max(...times) + 1_000).toISOString(),
    }
    const { total } = await client.meterUsage(await client.requestsMeter(), query)
    const sent = model.usage.reduce((sum, { units }) => sum + units, 0)
    if (total !== sent) wrong.push(`${environment} ${reference} used ${sent}, stored is ${total}`)
  }
  return wrong
}
