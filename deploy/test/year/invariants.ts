import { setTimeout as sleep } from 'node:timers/promises'
import { reconcile } from '@tollgate/domain/reconciliation/reconcile'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { environments } from '@tollgate/schemas/environment'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { createOutput } from '@tollgate/platform/cli/output'
import { verifyLedgerCommand } from '../../../control-plane/src/cli/ledger-commands.ts'
import type { Installation } from './installation.ts'
import { dinars, dollars, yen } from './model/money.ts'
import { elementsMissingIn } from './not-in.ts'
import type { Person } from './person.ts'

/* Invariants of the whole installation. Each function returns a line for each violation. */

const waitMs = 60_000
const pauseMs = 20

/** Returns differences of wallets, after waiting until the ledger contains all usage. */
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
        (each) => each.environment === environment && !each.isDeleted,
      )) {
        const found = credits.get(reference) ?? 0
        if (found !== model.wallet.credits) {
          wrong.push(
            `${environment} ${reference} has ${found} credits, not ${model.wallet.credits}`,
          )
        }
      }
    }
    if (wrong.length === 0 || performance.now() > deadline) return wrong
    await sleep(pauseMs)
  }
}

export async function findUnbalancedBooks({ stack }: Installation): Promise<string[]> {
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

/** Verifies the ledger, its seals, wallets and invoices with the operator's command. */
export async function verifyLedger({ stack }: Installation): Promise<string[]> {
  const lines: string[] = []
  const output = createOutput(
    () => 'text',
    (line) => lines.push(line),
  )
  try {
    await verifyLedgerCommand({ database: stack.database, output })
    return []
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return lines
  }
}

/** Reconciles everything with the processor, ClickHouse and hot state. */
export async function findDifferences(
  installation: Installation,
  startsAt: Date,
): Promise<string[]> {
  const to = new Date(installation.clock.now() + 1_000)
  const scopes = environments.map((environment) => ({
    environment,
    providerId: undefined,
    from: startsAt,
    to,
    graceMs: 0,
  }))
  const parts = installation.reconciliation()
  const wrong: string[] = []
  for (const scope of scopes) {
    const { reports, withoutProvider } = await reconcile(parts, scope, { findingsMax: 10 })
    if (reports.length === 0) wrong.push(`${scope.environment}: nothing was compared`)
    for (const { providerId, gaps, findings } of reports) {
      wrong.push(...gaps.map((gap) => `${providerId} was not compared: ${JSON.stringify(gap)}`))
      wrong.push(...findings.map((finding) => `${providerId} ${JSON.stringify(finding)}`))
    }
    wrong.push(
      ...withoutProvider.map((finding) => `without a provider: ${JSON.stringify(finding)}`),
    )
  }
  return wrong
}

/**
 * Checks that the ledger contains all money of the processor, minus its fees and disputed money. Amounts that the processor counts
 * in finer units are rounded with each movement.
 */
export async function findWrongBalances(installation: Installation): Promise<string[]> {
  const wrong: string[] = []
  for (const environment of environments) {
    const rows = await installation.stack.database.in(environment)<
      { unit: string; sum: string; movements: string }[]
    >`
      select unit, sum(amount)::text as sum, count(*)::text as movements from ledger_entries
      where account = 'clearing' group by unit`
    const balance = await installation.balanceAtStripe(environment)
    const posted = new Map(rows.map((row) => [row.unit, row]))
    for (const code of new Set([...balance.keys(), ...posted.keys()])) {
      const units = unitsOf(code)
      const { sum = '0', movements = '0' } = posted.get(code) ?? {}
      const difference = (balance.get(code) ?? 0n) - BigInt(sum) * units
      const roundedOff = (units / 2n) * BigInt(movements)
      if (difference <= roundedOff && -difference <= roundedOff) continue
      wrong.push(`${environment} the processor has ${difference} ${code} that the ledger has not`)
    }
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

/** Checks that the processor charged exactly the paid invoices, each once, and everything that customers paid. */
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
      { payment: string; paid: string; refunded: string; currency: string }[]
    >`
      select intent.processor_payment_id as payment, invoice.paid::text as paid,
        invoice.refunded::text as refunded, invoice.currency
      from invoices as invoice left join payment_intents as intent
        on intent.provider_id = invoice.provider_id and intent.invoice_ref = invoice.reference
        and intent.status = 'succeeded'
      where invoice.paid > 0`
    const invoiced = invoices.map(({ payment, paid, refunded, currency }) =>
      charge(payment, BigInt(paid), BigInt(refunded), currency),
    )
    const bought = people
      .filter((person) => person.environment === environment)
      .flatMap(({ receipts, model }) =>
        receipts.map(({ processorPaymentId, invoice: { paid, refunded } }) =>
          charge(processorPaymentId, paid, refunded, model.currency.code),
        ),
      )
    wrong.push(
      ...elementsMissingIn(found, invoiced).map(
        (each) => `${environment} charged too much: ${each}`,
      ),
    )
    wrong.push(
      ...elementsMissingIn(invoiced, found).map((each) => `${environment} not charged: ${each}`),
    )
    wrong.push(
      ...elementsMissingIn(bought, found).map((each) => `${environment} not paid: ${each}`),
    )
  }
  return wrong
}

/** Formats a charge in the units of the processor. */
function charge(payment: string, paid: bigint, refunded: bigint, code: string): string {
  const units = unitsOf(code)
  return `${payment} ${paid * units} less ${refunded * units}`
}

function unitsOf(code: string): bigint {
  return [dollars, yen, dinars].find((currency) => currency.code === code)!.processorUnits
}

/** Returns deleted customers that the processor still knows. */
export async function findUndeletedCustomers(
  installation: Installation,
  people: readonly Person[],
): Promise<string[]> {
  const wrong: string[] = []
  for (const environment of environments) {
    const deleted = people.filter((each) => each.environment === environment && each.isDeleted)
    const gone = new Set(deleted.map(({ reference }) => reference))
    const rows = await installation.stack.database.in(environment)<{ customer: string }[]>`
      select customer_ref as customer from processor_customers`
    const kept = rows.filter(({ customer }) => gone.has(customer))
    wrong.push(...kept.map(({ customer }) => `${environment} ${customer} is not forgotten`))
  }
  return wrong
}

/** Compares the stored usage with the sent usage, record by record. */
export async function findWrongUsage(people: readonly Person[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { model, reference, environment, seller, isDeleted } of people) {
    if (model.usage.length === 0 || isDeleted) continue
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
