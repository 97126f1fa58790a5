import { correctionEvent } from '@tollgate/ingest/domain/correction-events'
import {
  applyCorrection,
  correctionLeaseMs,
} from '@tollgate/control-plane/usage-corrections/apply-correction'
import type { AppendRecords } from '@tollgate/control-plane/usage-corrections/append-records'
import type { CorrectionParts } from '@tollgate/control-plane/usage-corrections/correction-parts'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { CorrectionSelection } from '@tollgate/domain/usage-corrections/correction'
import { claimCorrections } from '@tollgate/domain/usage-corrections/repository'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { correctionPastMsMax } from '@tollgate/schemas/limits'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { publisherOf } from '../../../billing-runner/src/open-parts.ts'
import type { Shop } from '../../../billing-runner/test/runner-stack.ts'
import { oraclePrice } from '../../../domain/test/pricing-oracle.ts'
import { cycles, inputOf, plans, type CasePlan } from './random-stories.ts'
import { startUsageBillingStack } from './usage-billing-stack.ts'
import type { ModelCycle } from './usage-bill-model.ts'

/*
 * Random plans, usage and corrections: of one record or of a time, once or twice at the same time, before and after bills, and after
 * the end, by workers that die at every step. All lines of a period must add up to the price of its corrected usage.
 */

const runs = Number(process.env['TOLLGATE_TEST_CORRECTED_BILLS'] ?? 6)
const dayMs = 86_400_000
const begin = Date.parse('2026-01-31T12:00:00Z')
const topic = usageTopic('sandbox')

const stack = await startUsageBillingStack()
afterAll(() => stack.stop())

/** Where a worker dies: before or after its page is in the log, or with half of it. `late`: its lease has ended meanwhile. */
type Flaw = 'none' | 'before' | 'half' | 'after' | 'late'

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
  #nowMs = begin

  constructor(shop: Shop) {
    this.#shop = shop
  }

  get records(): readonly ModelRecord[] {
    return this.#records
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
    for (const correction of corrections) {
      const { selection, own } = this.#select(correction)
      const value = BigInt(correction.units) * 1_000_000n
      const valueMicros = correction.action === 'set' ? value : undefined
      await stack.runner.within(this.#shop, (work) =>
        requestCorrection(work, {
          ...{ selection, action: correction.action, valueMicros },
          ...{ reason: 'wrong', author: 'Grace', idempotencyKey: null },
        }),
      )
      for (const record of own) record.micros = valueMicros ?? 0n
    }
    await Promise.all([applyAll(this.#shop, flaw), applyAll(this.#shop, 'none')])
    await applyAll(this.#shop, 'none')
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

  /** Compares the lines of each period with the price of what the model has left of its records. */
  async expectBills({ priced }: CasePlan): Promise<void> {
    const { reference } = this.purchase
    const issued = await stack.invoicesOf(this.#shop, reference)
    for (const invoice of issued) expect(recomputeInvoice(invoice)).toEqual([])
    const bills = [...issued, ...(await stack.draftsOf(this.#shop, reference))]
    const lines = bills
      .flatMap((bill) => bill.lines)
      .filter(({ inputs }) => inputs.kind === 'usage' || inputs.kind === 'late_usage')
    let billedRecords = 0
    for (const first of lines.filter(({ inputs }) => inputs.kind === 'usage')) {
      const { start, end } = first.period!
      const own = lines.filter(({ period }) => period!.start.getTime() === start.getTime())
      const from = start.getTime() === this.purchase.startDate.getTime() ? -300_000 : 0
      const inPeriod = this.#records.filter(
        ({ atMs }) =>
          atMs >= start.getTime() + from && atMs < Math.ceil(end.getTime() / 1_000) * 1_000,
      )
      billedRecords += inPeriod.length
      const micros = inPeriod.reduce((sum, each) => sum + each.micros, 0n)
      const carried = first.inputs.kind === 'usage' ? first.inputs.carriedOverUnits : '0'
      const dollars = { unitsPerDollar: '1', decimals: 2 } as const
      const price = oraclePrice(priced, decimal(micros), carried, dollars)
      const billedMinor = own.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
      expect([start.toISOString(), billedMinor]).toEqual([start.toISOString(), price.nearest()])
    }
    expect(billedRecords).toBe(this.#records.length)
  }
}

async function applyAll({ providerId }: Shop, flaw: Flaw): Promise<void> {
  const sql = stack.runner.database.in('sandbox')
  const leaseMs = flaw === 'late' ? 1 : correctionLeaseMs
  for (;;) {
    const [claimed] = await claimCorrections(sql, { rowsMax: 1, leaseMs, providerId })
    if (claimed === undefined) return
    try {
      await applyCorrection(partsWith(flaw), 'sandbox', claimed, () => false)
    } catch (error) {
      if ((error as Error).message !== 'died') throw error
      return
    }
  }
}

function partsWith(flaw: Flaw): CorrectionParts {
  const { parts } = stack.runner
  const appendRecords: AppendRecords = async (holder, records) => {
    if (flaw === 'before') throw new Error('died')
    const half = records.slice(0, Math.ceil(records.length / 2))
    await append(holder, flaw === 'half' ? half : records)
    if (flaw === 'half' || flaw === 'after') throw new Error('died')
  }
  return {
    ...parts,
    publisher: publisherOf(parts),
    appendRecords,
    correctionLimits: { pageRecords: 2, storedWaitMs: 20_000, previewRecordsMax: 100, waitMs: 0 },
  }
}

const append: AppendRecords = async ({ providerId }, records) => {
  const { eventLog } = stack.runner.parts
  const encoded = records.map((record) => {
    const event = correctionEvent(record, providerId, stack.runner.clock.now())
    const buffer = Buffer.alloc(2_000)
    const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
    const subject = subjectKey(providerId, event.customerRef)
    return { partition: partitionOf(subject, eventLog.partitionCount(topic)), value }
  })
  await eventLog.appendAll(topic, encoded, stack.runner.clock.now())
}

function decimal(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
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
  `${runs} random stories are billed as if the corrected usage had been recorded`,
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
        await story.expectBills(plan)
        // All bills of the purchase are made, and its usage is closed.
        await story.correct(lastCorrections, 'after')
        await story.run()
        await story.expectBills(plan)
      },
    )
    await fc.assert(property, { numRuns: runs })
  },
)
