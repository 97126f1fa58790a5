import { readBillThreshold } from '../billing/bill-threshold.ts'
import { findCustomer, type Customer } from '../customers/repository.ts'
import { totalOf, type ChargedPeriod } from '../pricing/invoice-line.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import { unpricedUsage, type PreviewedUsage } from '../pricing/preview-price.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import {
  previewInvoices,
  type PreviewAt,
  type PreviewedInvoices,
  type PreviewParts,
} from './preview-invoices.ts'
import { runningPeriodOf } from './running-period.ts'
import { readScheduledAhead } from './scheduled-ahead.ts'

export type HeldPurchase = { readonly purchase: Purchase; readonly customer: Customer }

/** Returns the purchase with its customer. Undefined if there is none, or if the customer was deleted and is no longer charged. */
export function readHeldPurchase(
  { database }: Pick<PreviewParts, 'database'>,
  { providerId, environment }: Omit<PreviewAt, 'now'>,
  reference: string,
): Promise<HeldPurchase | undefined> {
  const rows = database.of(providerId).in(environment)
  return rows.read(async (sql) => {
    const [purchase] = await listPurchases(sql, providerId, { reference, rowsMax: 1 })
    const customer = purchase && (await findCustomer(sql, providerId, purchase.customerRef))
    return purchase && customer && { purchase, customer }
  })
}

/** The amount of unbilled usage at which the running period is billed before its end. */
export type ThresholdAhead = {
  /** Minor units of the purchase's currency. */
  readonly amountMinor: bigint
  /** Whether the unbilled usage costs that much: it is billed at once, and the last bill of the period has the rest. */
  readonly isReached: boolean
}

export type PurchasePreview = PreviewedInvoices & {
  /** Undefined if the purchase has ended. */
  readonly period: ChargedPeriod | undefined
  /** Assumed usage that the plan does not bill. */
  readonly unpriced: readonly PreviewedUsage[]
  readonly threshold: ThresholdAhead | undefined
}

/**
 * Returns the invoices of the running period of a purchase: its usage so far, or the assumed usage, and the price of the next period.
 * A period that has ended and is not billed yet comes first. A change of plan that is scheduled within the period is included.
 */
export async function previewPurchase(
  parts: PreviewParts,
  at: PreviewAt,
  { purchase, customer }: HeldPurchase,
  usage: readonly PreviewedUsage[] | undefined,
): Promise<PurchasePreview> {
  const { reference: purchaseRef, planSnapshot: plan } = purchase
  const period = runningPeriodOf(purchase, at.now)
  const assumed =
    usage === undefined || period === undefined
      ? undefined
      : { purchaseRef, periodStart: period.start, usage }
  const { providerId, environment, now } = at
  const rows = parts.database.of(providerId).in(environment)
  const ahead = await rows.read((sql) => readScheduledAhead({ sql, providerId, now }, purchase))
  const invoices = await previewInvoices(parts, at, { customer, ...ahead, assumed })
  const charges = plan === null ? [] : billedCharges(plan)
  return {
    ...invoices,
    period,
    unpriced: unpricedUsage(charges, usage ?? []),
    threshold: await readThreshold(parts, at, purchase, period, invoices),
  }
}

async function readThreshold(
  { database }: PreviewParts,
  { providerId, environment }: PreviewAt,
  purchase: Purchase,
  period: ChargedPeriod | undefined,
  { invoices }: PreviewedInvoices,
): Promise<ThresholdAhead | undefined> {
  const rows = database.of(providerId).in(environment)
  const amountMinor = await rows.read((sql) => readBillThreshold({ sql, providerId }, purchase))
  if (amountMinor === undefined || period === undefined) return undefined
  const unbilled = invoices
    .flatMap(({ lines }) => lines)
    .filter(({ inputs }) => inputs.kind === 'usage' || inputs.kind === 'late_usage')
    .filter((line) => line.period?.start.getTime() === period.start.getTime())
  return { amountMinor, isReached: totalOf(unbilled) >= amountMinor }
}
