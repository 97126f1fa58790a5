import { previewCorrections } from '@tollgate/control-plane/usage-corrections/preview-correction'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { decimalOfMicros } from '@tollgate/domain/money/decimal'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { publishPending } from '@tollgate/domain/publishing/publisher'
import type {
  CorrectionSelection,
  NewCorrection,
} from '@tollgate/domain/usage-corrections/correction'
import type { CorrectedPeriodBody } from '@tollgate/schemas/http/usage-corrections'
import { publisherOf } from '@tollgate/billing-runner/open-parts'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { correctionPastMsMax } from '@tollgate/schemas/limits'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Shop } from '../../../billing-runner/test/runner-stack.ts'
import { oraclePrice } from '../../../domain/test/pricing-oracle.ts'
import { applyCorrections, correctionPartsOf, type Flaw } from './apply-corrections.ts'
import { cycles, inputOf, plans, type CasePlan } from './random-stories.ts'
import { startUsageBillingStack } from './usage-billing-stack.ts'
import type { ModelCycle } from './usage-bill-model.ts'

/*
 * Random plans, usage and corrections of one record or of a range of time: one or two at the same time, before and after bills, and
 * after the end of the purchase, applied by workers that die at every step. All lines of a period must add up to the price of its
 * corrected usage.
 */

const runs = randomRuns(6, process.env['TOLLGATE_TEST_CORRECTED_BILLS'])
const dayMs = 86_400_000
const begin = Date.parse('2026-01-31T12:00:00Z')

const stack = await startUsageBillingStack()
afterAll(() => stack.stop())

type Correction = {
  readonly action: 'remove' | 'set'
  readonly units: number
  /** Part of the records, from 0 to 1. */
  readonly from: number
  readonly to: number
  readonly isOne: boolean
}

type Step =
  | { readonly kind: 'use'; readonly micros: bigint }
  | { readonly kind: 'run' }
  | { readonly kind: 'correct'; readonly corrections: readonly Correction[]; readonly flaw: Flaw }

type ModelRecord = { readonly id: string; readonly atMs: number; micros: bigint }

class Story {
  readonly #shop: Shop
  readonly #records: ModelRecord[] = []
  #purchase: Purchase | undefined
  #plan: CasePlan | undefined
  #nowMs = begin

  constructor(shop: Shop) {
    this.#shop = shop
  }

  get purchase(): Purchase {
    return this.#purchase!
  }

  wait(ms: number): void {
    this.#nowMs += ms
    stack.runner.clock.set(new Date(this.#nowMs).toISOString())
  }

  async buy(plan: CasePlan, cycle: ModelCycle): Promise<void> {
    const offered = await stack.runner.addPlan(this.#shop, inputOf(plan, cycle))
    this.#purchase = await stack.runner.buy(this.#shop, offered)
    this.#plan = plan
  }

  async use(micros: bigint): Promise<void> {
    const { customerRef } = this.purchase
    const key = `key-${this.#records.length}`
    const at = new Date(this.#nowMs)
    await stack.record(this.#shop, [{ customerRef, micros, at, idempotencyKey: key }])
    const id = `usage_${this.#shop.providerId}_${customerRef}_${key}`
    this.#records.push({ id, atMs: this.#nowMs, micros })
  }

  async run(): Promise<void> {
    const at = new Date(this.#nowMs).toISOString()
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    await stack.runner.runJob('renewals', at, this.#pay, once)
    await stack.runner.runJob('usage-billing', at, this.#pay, once)
    await stack.runner.runJob('renewals', at, this.#pay, once)
  }

  async end(): Promise<void> {
    await stack.runner.within(this.#shop, async (work) => {
      const purchase = await lockPurchase(work.sql, work.providerId, this.purchase.reference)
      await endNow(work, purchase!, 'expired')
    })
  }

  /** Requests the corrections, and applies them by two workers, of which the first may die. */
  async correct(corrections: readonly Correction[], flaw: Flaw): Promise<void> {
    if (this.#records.length === 0) return
    for (const [index, correction] of corrections.entries()) {
      const { selection, own } = this.#select(correction)
      const value = BigInt(correction.units) * 1_000_000n
      const valueMicros = correction.action === 'set' ? value : undefined
      const wanted: NewCorrection = {
        ...{ selection, action: correction.action, valueMicros },
        ...{ reason: 'wrong', author: 'Grace', idempotencyKey: null },
      }
      // Later corrections work from what the first correction leaves, so only the first has a dry run.
      const preview = index === 0 ? await this.#preview(wanted) : undefined
      const before = this.#records.map((record) => ({ ...record }))
      await stack.runner.within(this.#shop, (work) => requestCorrection(work, wanted))
      for (const record of own) record.micros = valueMicros ?? 0n
      if (preview !== undefined) this.#expectPreview(preview, before)
    }
    const { providerId } = this.#shop
    await Promise.all([
      applyCorrections(stack.runner, providerId, flaw),
      applyCorrections(stack.runner, providerId, 'none'),
    ])
    await applyCorrections(stack.runner, providerId, 'none')
  }

  async #preview(wanted: NewCorrection): Promise<readonly CorrectedPeriodBody[]> {
    const now = new Date(this.#nowMs)
    const scope = { environment: 'sandbox', providerId: this.#shop.providerId, now } as const
    const outcome = await previewCorrections(correctionPartsOf(stack.runner), scope, [wanted])
    if (outcome.kind !== 'previews') throw new Error(outcome.kind)
    return outcome.previews[0]!.periods
  }

  /** Compares a dry run with the prices of the model. Units that roll over would need the periods before. */
  #expectPreview(
    periods: readonly CorrectedPeriodBody[],
    before: readonly Readonly<ModelRecord>[],
  ): void {
    const { priced } = this.#plan!
    if (priced.rollsOver) return
    for (const { periodStart, periodEnd, amountMinor } of periods) {
      const [start, end] = [new Date(periodStart), new Date(periodEnd!)]
      const priceOf = (records: readonly Readonly<ModelRecord>[]): bigint =>
        this.#price(this.#inPeriod(records, start, end), '0')
      const expected = priceOf(this.#records) - priceOf(before)
      expect([periodStart, BigInt(amountMinor)]).toEqual([periodStart, expected])
    }
  }

  #inPeriod(
    records: readonly Readonly<ModelRecord>[],
    start: Date,
    end: Date,
  ): readonly Readonly<ModelRecord>[] {
    const isFirst = start.getTime() === this.purchase.startDate.getTime()
    const fromMs = start.getTime() - (isFirst ? 300_000 : 0)
    const toMs = Math.ceil(end.getTime() / 1_000) * 1_000
    return records.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
  }

  #price(records: readonly Readonly<ModelRecord>[], carried: string): bigint {
    const micros = records.reduce((sum, each) => sum + each.micros, 0n)
    const dollars = { unitsPerDollar: '1', decimals: 2 } as const
    return oraclePrice(this.#plan!.priced, decimalOfMicros(micros), carried, dollars).nearest()
  }

  /** Compares counters and bills with the records. */
  async reconcile(): Promise<void> {
    const { parts } = stack.runner
    await publishPending(publisherOf(parts), 1_000)
    const config = stack.runner.config({ TOLLGATE_RECONCILE_GRACE_MINUTES: '0' })
    const { providerId } = this.#shop
    const request = { environment: 'sandbox', providerId, since: new Date(begin) } as const
    const { reports } = await runReconciliation(config, parts, request)
    expect(reports.flatMap(({ findings, gaps }) => [...findings, ...gaps])).toEqual([])
  }

  #select({ from, to, isOne }: Correction): {
    readonly selection: CorrectionSelection
    readonly own: readonly ModelRecord[]
  } {
    const { customerRef } = this.purchase
    const recent = (record: ModelRecord): boolean =>
      record.atMs >= this.#nowMs - correctionPastMsMax
    const at = (part: number): ModelRecord =>
      this.#records[Math.min(Math.floor(part * this.#records.length), this.#records.length - 1)]!
    if (isOne) {
      const record = at(from)
      const selection = { kind: 'record', id: record.id, customerRef } as const
      return { selection, own: [record].filter(recent) }
    }
    const [fromMs, lastMs] = [at(from).atMs, at(to).atMs].sort((one, other) => one - other)
    const toMs = lastMs! + 1
    return {
      selection: {
        kind: 'filter',
        ...{ customerRef, meterName: 'requests', fromMs: fromMs!, toMs },
        ...{ dimensions: {}, properties: {} },
      },
      own: this.#records.filter(
        (record) => record.atMs >= fromMs! && record.atMs < toMs && recent(record),
      ),
    }
  }

  readonly #pay = async ({ invoiceRef, amountMinor }: InvoiceCharge): Promise<ChargeOutcome> => {
    await stack.runner.within(this.#shop, async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, invoiceRef)
      await payInvoice(work, invoice!, { chargeRef: `ch_${invoiceRef}`, amountMinor })
    })
    return { kind: 'paid' }
  }

  /** Compares the lines of each period with the price of the corrected records of the model. */
  async expectBills(): Promise<void> {
    const { reference } = this.purchase
    const issued = await stack.invoicesOf(this.#shop, reference)
    for (const invoice of issued) expect(recomputeInvoice(invoice)).toEqual([])
    const bills = [...issued, ...(await stack.draftsOf(this.#shop, reference))]
    const lines = bills
      .flatMap((bill) => bill.lines)
      .filter(({ inputs }) => inputs.kind === 'usage' || inputs.kind === 'late_usage')
    let billedRecords = 0
    for (const { inputs, period } of lines) {
      if (inputs.kind !== 'usage') continue
      const { start, end } = period!
      const own = lines.filter((line) => line.period!.start.getTime() === start.getTime())
      const inPeriod = this.#inPeriod(this.#records, start, end)
      billedRecords += inPeriod.length
      const billedMinor = own.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
      const expected = this.#price(inPeriod, inputs.carriedOverUnits)
      expect([start.toISOString(), billedMinor]).toEqual([start.toISOString(), expected])
    }
    expect(billedRecords).toBe(this.#records.length)
  }
}

const part = fc.double({ min: 0, max: 1, noNaN: true })
const corrections: fc.Arbitrary<Correction> = fc.record({
  action: fc.constantFrom('remove', 'set'),
  units: fc.nat(3_000),
  from: part,
  to: part,
  isOne: fc.boolean(),
})
const steps = fc.array(
  fc.tuple(
    fc.oneof(fc.nat(3_600_000), fc.nat(3 * dayMs), fc.nat(25 * dayMs)),
    fc.oneof(
      {
        arbitrary: fc.record({
          kind: fc.constant('use' as const),
          micros: fc.integer({ min: 1, max: 2_000_000_000 }).map(BigInt),
        }),
        weight: 5,
      },
      { arbitrary: fc.record({ kind: fc.constant('run' as const) }), weight: 3 },
      {
        arbitrary: fc.record({
          kind: fc.constant('correct' as const),
          corrections: fc.array(corrections, { minLength: 1, maxLength: 2 }),
          flaw: fc.constantFrom<Flaw>('none', 'before', 'half', 'after', 'late'),
        }),
        weight: 4,
      },
    ),
  ),
  { minLength: 4, maxLength: 14 },
)

async function play(story: Story, step: Step): Promise<void> {
  if (step.kind === 'use') await story.use(step.micros)
  if (step.kind === 'run') await story.run()
  if (step.kind === 'correct') await story.correct(step.corrections, step.flaw)
}

test(
  `${runs.numRuns} random stories are billed as if the corrected usage had been recorded`,
  {
    timeout: 0,
  },
  async () => {
    const property = fc.asyncProperty(
      plans,
      cycles,
      steps,
      fc.array(corrections, { minLength: 1, maxLength: 2 }),
      async (plan, cycle, told, lastCorrections) => {
        stack.runner.clock.set(new Date(begin).toISOString())
        const story = new Story(await stack.runner.openShop())
        await story.buy(plan, cycle)
        for (const [waitMs, step] of told) {
          story.wait(waitMs)
          await play(story, step)
        }
        story.wait(1)
        await story.end()
        await story.run()
        story.wait(40 * dayMs)
        await story.run()
        await story.expectBills()
        // All bills of the purchase are made, and its usage is closed.
        await story.correct(lastCorrections, 'after')
        await story.run()
        await story.expectBills()
      },
    )
    await fc.assert(property, runs)
  },
)
