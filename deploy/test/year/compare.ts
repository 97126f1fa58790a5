import type { Queryable } from '@tollgate/platform/database/database'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { compareCarried, compareInvoices } from './compare-invoices.ts'
import type { Installation } from './installation.ts'
import { centsOf, type ModelCurrency } from './model/money.ts'
import type { ModelPurchase } from './model/records.ts'
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

/** Tolerance of a refund's time, because the process that read it may have been killed. */
const refundedWithinMs = 30 * 60_000

/** Compares the installation's data of every customer with the model. */
export class Comparison {
  readonly #installation: Installation
  readonly #events = new Map<string, string[]>()
  readonly #toldUntil = new Map<Environment, bigint>()
  eventsTotal = 0

  constructor(installation: Installation) {
    this.#installation = installation
  }

  /** Returns a line for each difference, and an empty list if there is none. */
  async compare(people: readonly Person[]): Promise<string[]> {
    const differences: string[] = []
    for (const environment of environments) {
      await this.#readEvents(environment)
      const ofThese = people.filter((person) => person.environment === environment)
      differences.push(...(await this.#comparePurchases(environment, ofThese)))
      const sql = this.#installation.stack.database.in(environment)
      differences.push(...(await compareInvoices(sql, ofThese)))
      differences.push(...(await compareCarried(sql, ofThese)))
      differences.push(...(await compareRecharges(sql, ofThese)))
    }
    return differences
  }

  async #comparePurchases(environment: Environment, people: readonly Person[]): Promise<string[]> {
    const rows = await this.#installation.stack.database.in(environment)<PurchaseRow[]>`
      select * from purchases where plan_ref is not null`
    const found = new Map(rows.map((row) => [row.reference, row]))
    const expected = people.flatMap(({ model }) =>
      model.purchases.map((purchase) => ({ purchase, currency: model.currency })),
    )
    const differences: string[] = []
    for (const { purchase, currency } of expected) {
      const row = found.get(purchase.reference)
      found.delete(purchase.reference)
      const events = this.#events.get(purchase.reference) ?? []
      const differs =
        row === undefined ? ['is missing'] : differencesOf(purchase, currency, row, events)
      const name = `${environment} ${purchase.plan.name} ${purchase.reference}`
      differences.push(...differs.map((difference) => `${name}: ${difference}`))
    }
    differences.push(
      ...[...found.keys()].map(
        (key) => `${environment} ${key}: belongs to no customer of the model`,
      ),
    )
    return differences
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
      const events = this.#events.get(reference) ?? []
      events.push(type)
      this.#events.set(reference, events)
    }
    this.eventsTotal += rows.length
    if (rows.length > 0) this.#toldUntil.set(environment, rows.at(-1)!.sequence)
  }
}

function differencesOf(
  purchase: ModelPurchase,
  currency: ModelCurrency,
  row: PurchaseRow,
  told: readonly string[],
): string[] {
  const refunded = purchase.status === 'refunded'
  const facts: readonly (readonly [string, unknown, unknown, number?])[] = [
    ['status', row.status, purchase.status],
    ['amount', Number(row.amount), Number(centsOf(purchase.amount, currency))],
    ['autoRenew', row.auto_renew, purchase.autoRenew],
    ['nextBillingDate', timeOf(row.next_billing_date), purchase.nextBilling],
    ['nextResetAt', timeOf(row.next_reset_at), purchase.nextReset],
    ['endDate', timeOf(row.end_date), purchase.end],
    ['endedAt', timeOf(row.ended_at), purchase.endedAt, refunded ? refundedWithinMs : 0],
    ['cancelledAt', timeOf(row.cancelled_at), purchase.cancelledAt],
    ['events', told.join(' '), purchase.events.join(' ')],
  ]
  const retry = { failures: row.retry_count, next: timeOf(row.next_retry_at) }
  const isRetried = purchase.retries.some(
    ({ failures, next }) => failures === retry.failures && next === retry.next,
  )
  const retries = isRetried
    ? []
    : [`retries are ${JSON.stringify(retry)}, not ${JSON.stringify(purchase.retries)}`]
  const different = facts
    .filter(([, found, expected, within]) => !isSame(found, expected, within ?? 0))
    .map(([name, found, expected]) => `${name} is ${shown(found)}, not ${shown(expected)}`)
  return [...different, ...retries]
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

/** Compares the monthly total, and whether the card is disabled. */
async function compareRecharges(sql: Queryable, people: readonly Person[]): Promise<string[]> {
  const rows = await sql<{ customer: string; said: string }[]>`
    select customer_ref as customer, concat_ws(' ', status, failure_count, monthly_spend_minor,
      monthly_spend_period, in_flight_payment_intent_id) as said
    from auto_recharges`
  const found = new Map(rows.map(({ customer, said }) => [customer, said]))
  return people.flatMap(({ reference, model: { recharge } }) => {
    const said = found.get(reference)
    const expected =
      recharge &&
      [recharge.status, recharge.failures, recharge.spent, recharge.month]
        .filter((each) => each !== null)
        .join(' ')
    return said === expected ? [] : [`${reference}: recharges ${said}, not ${expected}`]
  })
}
