import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { insertPurchase, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { expect } from 'vitest'
import type { RunnerStack, Shop } from '../../../billing-runner/test/runner-stack.ts'
import { AlertShop } from '../alerts/alert-shop.ts'
import type { CrashingProcess } from '../money/crashing-process.ts'

/** A request costs 1.5 cents. */
export const metered = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  creditsPerUnit: 150,
  billAtUnbilledMinor: 1_000,
} as const satisfies Partial<PlanCreateInput>

export const hybrid = {
  ...metered,
  billingModel: undefined,
  type: 'hybrid',
  basePrice: 4_900,
} as const

/** The alert job, which notes that unbilled usage has reached an amount, and the billing runner, which bills it. */
export class ThresholdShop {
  readonly alerts: AlertShop
  /** The attempted charges. */
  asked: InvoiceCharge[] = []

  private constructor(alerts: AlertShop) {
    this.alerts = alerts
  }

  static async start(): Promise<ThresholdShop> {
    return new ThresholdShop(await AlertShop.start())
  }

  /** Opens a new provider. The purchases of earlier ones are not due any more. */
  async open(at: string): Promise<void> {
    await this
      .sql`update purchases set next_usage_bill_at = null, usage_closes_at = null, carry_settles_at = null`
    await this.sql`update purchases set status = 'expired'`
    await this.sql`update invoices set next_charge_at = null`
    await this.sql`delete from threshold_crossings`
    await this.alerts.open(at)
    // The first round of an installation starts at the end of the log.
    await this.alerts.check()
    this.asked = []
  }

  get runner(): RunnerStack {
    return this.alerts.stack.runner
  }

  get shop(): Shop {
    return this.alerts.shop
  }

  get sql() {
    return this.alerts.sql
  }

  readonly paying = async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
    this.asked.push(charge)
    await this.runner.within(this.shop, async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, charge.invoiceRef)
      const { amountMinor } = charge
      await payInvoice(work, invoice!, { chargeRef: `ch_${charge.invoiceRef}`, amountMinor })
    })
    return { kind: 'paid' }
  }

  readonly withDecliningCard = async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
    this.asked.push(charge)
    const failure = `${charge.invoiceRef}:${this.asked.length}`
    return { kind: 'declined', isFinal: false, failure }
  }

  /** Records usage at a time and waits until it is stored. */
  async use(
    { customerRef }: Pick<Purchase, 'customerRef'>,
    units: number,
    at: string,
    meterName = 'requests',
  ): Promise<void> {
    this.runner.clock.set(at)
    await this.alerts.use(customerRef, units, { meterName })
  }

  /** Measures the cost of the customers who used something, and bills those who reached the amount of their plan. */
  async measureAndBill(at: string, charge = this.paying) {
    await this.measure(at)
    return this.billThresholds(at, charge)
  }

  async measure(at: string, life?: CrashingProcess): Promise<void> {
    this.runner.clock.set(at)
    await this.alerts.check(life)
  }

  billThresholds(at: string, charge = this.paying) {
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    return this.runner.runJob('threshold-billing', at, charge, once)
  }

  billPeriods(at: string, charge = this.paying) {
    const once = { TOLLGATE_BILLING_TRIES_MAX: '1' }
    return this.runner.runJob('usage-billing', at, charge, once)
  }

  /** Returns the invoices of a purchase, whose amounts and usage are verified. */
  async invoicesOf({ reference }: Pick<Purchase, 'reference'>): Promise<InvoiceWithLines[]> {
    const invoices = await this.alerts.stack.invoicesOf(this.shop, reference)
    for (const invoice of invoices) expect(recomputeInvoice(invoice)).toEqual([])
    return invoices
  }

  /** Returns the amounts of the usage lines of each invoice. */
  async amountsOf(purchase: Pick<Purchase, 'reference'>): Promise<bigint[][]> {
    const invoices = await this.invoicesOf(purchase)
    return invoices.map(({ lines }) => usageOf(lines).map(({ amountMinor }) => amountMinor))
  }

  /** Returns the sum of the usage lines of all invoices and drafts. */
  async billedMinor(purchase: Pick<Purchase, 'reference'>): Promise<bigint> {
    const amounts = await this.amountsOf(purchase)
    return amounts.flat().reduce((sum, minor) => sum + minor, 0n)
  }

  /** Ends the purchase and begins another one of the same plan, as a change of plan does. */
  change({ reference }: Purchase, at: string): Promise<Purchase> {
    this.runner.clock.set(at)
    return this.runner.within(this.shop, async (work) => {
      const { sql, providerId, now } = work
      const before = (await lockPurchase(sql, providerId, reference))!
      await endNow(work, before, 'expired')
      const dates = { startDate: now, createdAt: now, updatedAt: now, originalAmountMinor: 4_900 }
      const changed = { ...before, ...dates, reference: generateReference('purchase') }
      await insertPurchase(sql, providerId, changed)
      return changed
    })
  }

  now({ reference }: Purchase): Promise<Purchase> {
    return this.runner.purchase(this.shop, reference)
  }

  async crossings(): Promise<number> {
    return (await this.sql`select from threshold_crossings`).length
  }

  /** Sums the billed usage of all lines again. Returns the number of compared lines, and the differences. */
  async reconcile(at: string): Promise<unknown> {
    this.runner.clock.set(at)
    const { providerId } = this.shop
    const request = { environment: 'sandbox', providerId, since: new Date('2026-01-01') } as const
    const { reports } = await runReconciliation(this.runner.config(), this.runner.parts, request)
    const [report] = reports
    const findings = report!.findings.filter(({ kind }) => kind === 'billed_usage')
    return { compared: report!.compared.billed_usage, findings }
  }

  stop(): Promise<void> {
    return this.alerts.stop()
  }
}

export function usageOf(lines: readonly InvoiceLine[]): InvoiceLine[] {
  return lines.filter(({ inputs }) => inputs.kind === 'usage' || inputs.kind === 'late_usage')
}
