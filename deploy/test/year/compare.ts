import { environments, type Environment } from '@tollgate/schemas/environment'
import type { Installation } from './installation.ts'
import type { ModelPurchase } from './model/records.ts'
import { notIn } from './not-in.ts'
import type { Person } from './person.ts'

type PurchaseRow = {
  readonly reference: string
  readonly customer_ref: string
  readonly status: string
  readonly amount: bigint
  readonly auto_renew: boolean
  readonly next_billing_date: Date | null
  readonly next_reset_at: Date | null
  readonly next_retry_at: Date | null
  readonly retry_count: number
  readonly end_date: Date | null
  readonly ended_at: Date | null
  readonly cancelled_at: Date | null
}

/** When it was refunded nobody knows to the second whose process was killed meanwhile. */
const refundedWithinMs = 30 * 60_000

/** Compares what the installation says of everybody with what the model says of them. */
export class Comparison {
  readonly #installation: Installation
  readonly #events = new Map<string, string[]>()
  readonly #toldUntil = new Map<Environment, bigint>()
  eventsTotal = 0

  constructor(installation: Installation) {
    this.#installation = installation
  }

  /** What differs, in words; nothing where all is as it must be. */
  async compare(people: readonly Person[]): Promise<string[]> {
    const differences: string[] = []
    for (const environment of environments) {
      await this.#readEvents(environment)
      const ofThese = people.filter((person) => person.environment === environment)
      differences.push(...(await this.#comparePurchases(environment, ofThese)))
      differences.push(...(await this.#compareBilled(environment, ofThese)))
      differences.push(...(await this.#compareUsage(environment, ofThese)))
    }
    return differences
  }

  async #comparePurchases(environment: Environment, people: readonly Person[]): Promise<string[]> {
    const rows = await this.#installation.stack.database.in(environment)<PurchaseRow[]>`
      select * from purchases where plan_ref is not null`
    const found = new Map(rows.map((row) => [row.reference, row]))
    const expected = people.flatMap(({ model }) => model.purchases)
    const differences: string[] = []
    for (const purchase of expected) {
      const row = found.get(purchase.reference)
      found.delete(purchase.reference)
      const told = this.#events.get(purchase.reference) ?? []
      const differs = row === undefined ? ['is not there'] : differencesOf(purchase, row, told)
      const name = `${environment} ${purchase.plan.name} ${purchase.reference}`
      differences.push(...differs.map((difference) => `${name}: ${difference}`))
    }
    differences.push(...[...found.keys()].map((key) => `${environment} ${key}: nobody has it`))
    return differences
  }

  /** Base prices of periods: each that was billed, once, and whether it is paid. */
  async #compareBilled(environment: Environment, people: readonly Person[]): Promise<string[]> {
    const rows = await this.#installation.stack.database.in(environment)<
      { purchase_ref: string; start: Date; end: Date; cents: string; status: string }[]
    >`
      select billed.purchase_ref, billed.period_start as start, billed.period_end as end,
        invoices.status,
        (select coalesce(sum(amount), 0) from invoice_lines as line
         where line.provider_id = billed.provider_id and line.invoice_ref = billed.invoice_ref
           and line.kind in ('recurring', 'setup_fee'))::text as cents
      from billed_periods as billed
      join invoices on invoices.provider_id = billed.provider_id
        and invoices.reference = billed.invoice_ref
      where billed.part = 'recurring'
        -- The first period of what was bought is paid as it is bought.
        and not exists (select from payment_intents as bought
          where bought.provider_id = billed.provider_id and bought.invoice_ref = billed.invoice_ref
            and bought.purpose <> 'usage_billing')`
    const say = (ref: string, from: Date, until: Date, cents: number, isPaid: boolean): string =>
      `${ref} ${from.toISOString()}..${until.toISOString()} ${cents}${isPaid ? ' paid' : ''}`
    const found = rows.map((row) =>
      say(row.purchase_ref, row.start, row.end, Number(row.cents), row.status === 'paid'),
    )
    const expected = people.flatMap(({ model }) =>
      model.purchases.flatMap((purchase) =>
        [...purchase.billed].map(([start, { end, cents, isPaid }]) =>
          say(purchase.reference, new Date(start), new Date(end), cents, isPaid),
        ),
      ),
    )
    return [
      ...notIn(found, expected).map((each) => `billed too much: ${each}`),
      ...notIn(expected, found).map((each) => `not billed: ${each}`),
    ]
  }

  /** Lines of usage: what was billed of each period, and what came late, is the recount of the raw records. */
  async #compareUsage(environment: Environment, people: readonly Person[]): Promise<string[]> {
    const rows = await this.#installation.stack.database.in(environment)<
      { purchase_ref: string; kind: string; start: Date; end: Date; cents: string }[]
    >`
      select invoice.purchase_ref, line.kind, line.period_start as start, line.period_end as end,
        line.amount::text as cents
      from invoice_lines as line
      join invoices as invoice on invoice.provider_id = line.provider_id
        and invoice.reference = line.invoice_ref
      where line.kind in ('usage', 'late_usage')`
    const found = rows.map(
      (row) =>
        `${row.purchase_ref} ${row.kind} ${row.start.toISOString()}..${row.end.toISOString()} ${row.cents}`,
    )
    const expected = people.flatMap(({ model }) =>
      model.purchases.flatMap(({ reference, usageBook }) =>
        usageBook.lines.map(
          ({ kind, start, end, cents }) =>
            `${reference} ${kind} ${new Date(start).toISOString()}..${new Date(end).toISOString()} ${cents}`,
        ),
      ),
    )
    return [
      ...notIn(found, expected).map((each) => `billed too much: ${each}`),
      ...notIn(expected, found).map((each) => `not billed: ${each}`),
    ]
  }

  async #readEvents(environment: Environment): Promise<void> {
    const after = this.#toldUntil.get(environment) ?? 0n
    const rows = await this.#installation.stack.database.in(environment)<
      { sequence: bigint; type: string; reference: string | null; livemode: boolean }[]
    >`
      select sequence, type, object->>'reference' as reference, livemode from outbox
      where sequence > ${after.toString()} order by sequence`
    for (const { type, reference, livemode } of rows) {
      if (livemode !== (environment === 'live')) throw new Error(`${type} is in ${environment}`)
      if (!/^(purchase|usage)\./.test(type) || reference === null) continue
      const told = this.#events.get(reference) ?? []
      told.push(type)
      this.#events.set(reference, told)
    }
    this.eventsTotal += rows.length
    if (rows.length > 0) this.#toldUntil.set(environment, rows.at(-1)!.sequence)
  }
}

function differencesOf(
  purchase: ModelPurchase,
  row: PurchaseRow,
  told: readonly string[],
): string[] {
  const refunded = purchase.status === 'refunded'
  const facts: readonly (readonly [string, unknown, unknown, number?])[] = [
    ['status', row.status, purchase.status],
    ['amount', Number(row.amount), purchase.amount],
    ['autoRenew', row.auto_renew, purchase.autoRenew],
    ['nextBillingDate', timeOf(row.next_billing_date), purchase.nextBilling],
    ['nextResetAt', timeOf(row.next_reset_at), purchase.nextReset],
    ['endDate', timeOf(row.end_date), purchase.end],
    ['endedAt', timeOf(row.ended_at), purchase.endedAt, refunded ? refundedWithinMs : 0],
    ['cancelledAt', timeOf(row.cancelled_at), purchase.cancelledAt],
    ['retryCount', row.retry_count, purchase.failures],
    ['nextRetryAt', timeOf(row.next_retry_at), purchase.nextRetry],
    ['events', told.join(' '), purchase.events.join(' ')],
  ]
  return facts
    .filter(([, found, expected, within]) => !isSame(found, expected, within ?? 0))
    .map(([name, found, expected]) => `${name} is ${shown(found)}, not ${shown(expected)}`)
}

function isSame(found: unknown, expected: unknown, within: number): boolean {
  if (typeof found !== 'number' || typeof expected !== 'number') return found === expected
  return Math.abs(found - expected) <= within
}

function timeOf(date: Date | null): number | null {
  return date === null ? null : date.getTime()
}

function shown(value: unknown): string {
  if (typeof value === 'number' && value > 1e12) return new Date(value).toISOString()
  return JSON.stringify(value)
}
