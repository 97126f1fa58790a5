import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { createPurchase } from '@tollgate/domain/purchases/create-purchase'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { newUnpaidPurchase } from '@tollgate/domain/purchases/new-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { findCustomer } from '@tollgate/domain/customers/repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Shop } from '../../../billing-runner/test/runner-stack.ts'
import { Rational } from '../../../domain/test/pricing-oracle.ts'
import { cycles, inputOf, plans, steps, type CasePlan, type Step } from './random-stories.ts'
import { startUsageBillingStack } from './usage-billing-stack.ts'
import {
  UsageBillModel,
  type ModelCycle,
  type ModelLine,
  type ModelRecord,
} from './usage-bill-model.ts'

/*
 * Random plans, usage of any lateness over several periods, plan changes, ends, and interrupted runs. Every line must equal that of
 * the model, and the total must equal the cost of the raw records.
 */

const runs = randomRuns(8, process.env['TOLLGATE_TEST_USAGE_BILLS'])
const dayMs = 86_400_000
const begin = Date.parse('2026-01-31T12:00:00Z')

const stack = await startUsageBillingStack()
afterAll(() => stack.stop())

/** One customer's story, played by the runner and by the model. */
class Story {
  readonly shop: Shop
  readonly records: ModelRecord[] = []
  readonly models: UsageBillModel[] = []
  readonly expected = new Map<string, ModelLine[][]>()
  readonly charged = new Map<string, bigint>()
  readonly #cycle: ModelCycle
  readonly #plans: readonly CasePlan[]
  #customerRef = ''
  #nowMs = begin
  #keys = 0

  constructor(shop: Shop, plans: readonly CasePlan[], cycle: ModelCycle) {
    this.shop = shop
    this.#plans = plans
    this.#cycle = cycle
  }

  get customerRef(): string {
    return this.#customerRef
  }

  wait(ms: number): void {
    this.#nowMs += ms
    stack.runner.clock.set(new Date(this.#nowMs).toISOString())
  }

  async buy(): Promise<void> {
    const plan = await this.#plan()
    const purchase = await stack.runner.buy(this.shop, plan)
    this.#customerRef = purchase.customerRef
    this.#begin(purchase, undefined)
  }

  /** Changes to another plan of the product. The usage of the period so far is billed by the previous purchase. */
  async switchPlan(): Promise<void> {
    const before = this.models.at(-1)!.purchase
    const plan = await this.#plan()
    const product = { reference: this.shop.product.reference, name: 'API' }
    const purchase = await stack.runner.within(this.shop, async (work) => {
      await this.#end(before.reference)(work)
      const customer = await findCustomer(work.sql, work.providerId, this.#customerRef)
      const terms = { product, cycleMode: 'calendar', origin: 'manual', now: work.now } as const
      const made = newUnpaidPurchase({ customer: customer!, plan, ...terms })
      await createPurchase(work, made)
      return made
    })
    before.endMs = this.#nowMs
    this.#begin(purchase, before.endMs)
  }

  async end(): Promise<void> {
    const last = this.models.at(-1)!.purchase
    await stack.runner.within(this.shop, this.#end(last.reference))
    last.endMs = this.#nowMs
  }

  async use({ micros, lateMs, isRepeated }: Extract<Step, { kind: 'use' }>): Promise<void> {
    const at = new Date(this.#nowMs - lateMs)
    this.#keys += 1
    const usage = { customerRef: this.#customerRef, micros, at }
    const keyed = isRepeated ? { ...usage, idempotencyKey: `key-${this.#keys}` } : usage
    await stack.record(this.shop, isRepeated ? [keyed, keyed] : [keyed])
    this.records.push({ atMs: at.getTime(), micros })
  }

  /** Runs the jobs, first in an interrupted run if requested, then in a complete one. */
  async run(flaw: Extract<Step, { kind: 'run' }>['flaw']): Promise<void> {
    const at = new Date(this.#nowMs).toISOString()
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    const { runner } = stack
    const charge =
      flaw === 'before-charge' || flaw === 'after-charge' ? this.#dying(flaw) : this.pay
    if (flaw === 'store') await stack.stopProjections()
    if (flaw !== 'none') {
      const impatient = { ...once, TOLLGATE_USAGE_STORED_WAIT_MS: '1' }
      await runner.runJob('renewals', at, charge, impatient)
      await runner.runJob('usage-billing', at, charge, impatient)
    }
    if (flaw === 'store') await stack.startProjections()
    await runner.runJob('renewals', at, this.pay, once)
    await runner.runJob('usage-billing', at, this.pay, once)
    await runner.runJob('renewals', at, this.pay, once)
    for (const model of this.models) {
      const invoices = this.expected.get(model.purchase.reference) ?? []
      invoices.push(...model.bill(this.records, this.#nowMs))
      this.expected.set(model.purchase.reference, invoices)
    }
  }

  readonly pay = async ({ invoiceRef, amountMinor }: InvoiceCharge): Promise<ChargeOutcome> => {
    await stack.runner.within(this.shop, async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, invoiceRef)
      await payInvoice(work, invoice!, { chargeRef: `ch_${invoiceRef}`, amountMinor })
    })
    expect(this.charged.has(invoiceRef)).toBe(false)
    this.charged.set(invoiceRef, amountMinor)
    return { kind: 'paid' }
  }

  #dying(when: 'before-charge' | 'after-charge') {
    return async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
      if (when === 'after-charge') await this.pay(charge)
      throw new Error('died')
    }
  }

  #plan(): Promise<Plan> {
    const plan = this.#plans[this.models.length % this.#plans.length]!
    return stack.runner.addPlan(this.shop, inputOf(plan, this.#cycle))
  }

  #begin({ reference, startDate }: Purchase, previousEndMs: number | undefined): void {
    const { priced: plan } = this.#plans[this.models.length % this.#plans.length]!
    const given = { reference, plan, cycle: this.#cycle, previousEndMs }
    const times = { startMs: startDate.getTime(), endMs: undefined }
    this.models.push(new UsageBillModel({ ...given, ...times }))
  }

  #end(reference: string): Parameters<typeof stack.runner.within<void>>[1] {
    return async (work) => {
      const purchase = await lockPurchase(work.sql, work.providerId, reference)
      await endNow(work, purchase!, 'expired')
    }
  }
}

test(`${runs.numRuns} random stories are billed as the model says`, { timeout: 0 }, async () => {
  const property = fc.asyncProperty(
    fc.array(plans, { minLength: 2, maxLength: 2 }),
    cycles,
    steps,
    fc.boolean(),
    async (bothPlans, cycle, told, issueZeroInvoices) => {
      stack.runner.clock.set(new Date(begin).toISOString())
      const story = new Story(await stack.runner.openShop(), bothPlans, cycle)
      await stack.runner.within(story.shop, ({ sql, providerId, now }) =>
        changeMerchant(sql, providerId, { issueZeroInvoices }, now),
      )
      await story.buy()
      for (const [waitMs, step] of told) {
        story.wait(waitMs)
        if (step.kind === 'use') await story.use(step)
        if (step.kind === 'run') await story.run(step.flaw)
        if (step.kind === 'switch') await story.switchPlan()
      }
      story.wait(1)
      await story.end()
      await story.run('none')
      story.wait(dayMs)
      await story.use({ kind: 'use', micros: 7_000_000n, lateMs: 2 * dayMs, isRepeated: false })
      story.wait(31 * dayMs)
      await story.run('none')
      await stack.runner.runJob('payment-retries', '2027-12-31T00:00:00Z', story.pay)
      await expectBills(story, issueZeroInvoices)
    },
  )
  await fc.assert(property, runs)
})

async function expectBills(story: Story, issuesZero: boolean): Promise<void> {
  let linesMinor = 0n
  let chargedMinor = 0n
  for (const model of story.models) {
    const { reference } = model.purchase
    expect(model.isClosed).toBe(true)
    const invoices = await stack.invoicesOf(story.shop, reference)
    const drafts = await stack.draftsOf(story.shop, reference)
    for (const draft of drafts) expectDraft(draft)
    if (issuesZero) expect(drafts).toEqual([])
    const billed = [...invoices, ...drafts].map(usageLinesOf).filter((lines) => lines.length > 0)
    const found = billed.map((lines) => lines.map(shapeOf))
    const expected = (story.expected.get(reference) ?? []).map((lines) => lines.map(modelShapeOf))
    // Only numbered invoices have a defined order.
    expect(issuesZero ? found : inOneOrder(found)).toEqual(
      issuesZero ? expected : inOneOrder(expected),
    )
    const cost = billed
      .flat()
      .reduce((sum, { exact }) => sum.plus(fractionOf(exact)), Rational.of(0n))
    expect(cost.equals(model.costOfAll(story.records))).toBe(true)
    for (const invoice of invoices) {
      expect(recomputeInvoice(invoice)).toEqual([])
      expect(invoice.status).toBe('paid')
      expect(story.charged.get(invoice.reference) ?? 0n).toBe(invoice.paidMinor)
      linesMinor += sumOf(invoice.lines.filter(({ inputs }) => inputs.kind !== 'carried_in'))
      chargedMinor += invoice.paidMinor
    }
    expectStrategy(invoices)
  }
  const { database } = stack.runner
  const waitingMinor = await readCarried(database.in('sandbox'), story.shop.providerId, {
    customerRef: story.customerRef,
    currency: 'USD',
  })
  expect(chargedMinor + waitingMinor).toBe(linesMinor)
}

/** Checks a period that cost nothing: it only keeps the counted units. */
function expectDraft({ number, issuedAt, totalMinor, lines, ...draft }: InvoiceWithLines): void {
  expect({ number, issuedAt, totalMinor }).toEqual({ number: null, issuedAt: null, totalMinor: 0n })
  expect(lines.map(({ amountMinor }) => amountMinor)).toEqual(lines.map(() => 0n))
  expect(recomputeInvoice({ ...draft, totalMinor, lines })).toEqual([])
}

function inOneOrder<Shape>(shapes: readonly Shape[]): Shape[] {
  const text = (shape: Shape): string =>
    JSON.stringify(shape, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
  return shapes.toSorted((one, other) => (text(one) < text(other) ? -1 : 1))
}

/** Checks the order of a period's price and the previous period's usage: on one invoice, or on two in the order of the plan. */
function expectStrategy(invoices: readonly InvoiceWithLines[]): void {
  for (const [at, invoice] of invoices.entries()) {
    const usage = invoice.lines.find(({ inputs }) => inputs.kind === 'usage')
    const end = usage?.period?.end.getTime()
    const following = invoices.findIndex(({ lines }) =>
      lines.some(({ inputs, period }) => {
        return inputs.kind === 'recurring' && period?.start.getTime() === end
      }),
    )
    if (end === undefined || following < 0) continue
    switch (invoice.planSnapshot?.terms.billingStrategy) {
      case 'combined':
        expect(following).toBe(at)
        break
      case 'usage_first':
        expect(following).toBeGreaterThan(at)
        break
      default:
        expect(following).toBeLessThan(at)
    }
  }
}

function usageLinesOf({ lines }: InvoiceWithLines): InvoiceLine[] {
  return lines.filter(({ inputs }) => inputs.kind === 'usage' || inputs.kind === 'late_usage')
}

function shapeOf({ inputs, period, amountMinor, exact }: InvoiceLine) {
  if (inputs.kind !== 'usage' && inputs.kind !== 'late_usage') throw new Error(inputs.kind)
  const isExact = fractionOf(exact)
  return {
    kind: inputs.kind,
    from: period!.start.toISOString(),
    to: period!.end.toISOString(),
    used: Number(inputs.usedUnits),
    late: inputs.kind === 'late_usage' ? Number(inputs.lateUnits) : 0,
    carriedOver: Number(inputs.carriedOverUnits),
    amountMinor,
    exact: `${isExact.over}/${isExact.under}`,
  }
}

function modelShapeOf(line: ModelLine) {
  const { kind, startMs, endMs, usedMicros, lateMicros, carriedMicros, exact } = line
  return {
    kind,
    from: new Date(startMs).toISOString(),
    to: new Date(endMs).toISOString(),
    used: Number(usedMicros) / 1_000_000,
    late: Number(lateMicros) / 1_000_000,
    carriedOver: Number(carriedMicros) / 1_000_000,
    amountMinor: exact.nearest(),
    exact: `${exact.over}/${exact.under}`,
  }
}

function fractionOf({ numerator, denominator }: InvoiceLine['exact']): Rational {
  return Rational.of(numerator, denominator)
}

function sumOf(lines: readonly InvoiceLine[]): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}
