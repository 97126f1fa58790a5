import { expect } from 'vitest'
import type { LineInputs } from '@tollgate/domain/pricing/line-inputs'
import { environment } from '../money/environment.ts'
import { couponNames, coupons, type CouponName } from '../money/coupons.ts'
import type { Player } from './player.ts'

type Line = {
  readonly invoiceRef: string
  readonly status: string
  readonly kind: LineInputs['kind']
  readonly amountMinor: bigint
  readonly inputs: LineInputs
  readonly periodStart: Date | null
}

type Redeemed = { readonly reference: string; readonly couponRef: string }

const usageKinds: readonly string[] = ['usage', 'late_usage', 'minimum']

const discountedKinds: readonly string[] = [
  ...['recurring', 'add_on', 'setup_fee', 'one_time', ...usageKinds],
]

/**
 * Checks that each discount belongs to a coupon that the customer was given or has entered, has the amount of its coupon, and is on at
 * most as many invoices as its coupon allows.
 */
export async function expectDiscounted({ world, market, customer }: Player): Promise<void> {
  const sql = world.stores.postgres.database.in(environment)
  const { providerId } = market
  const redeemed = await sql<Redeemed[]>`
    select reference, coupon_ref as "couponRef" from discounts
    where provider_id = ${providerId} and customer_ref = ${customer.reference}`
  const nameOf = (discount: string): CouponName => {
    const { couponRef } = redeemed.find(({ reference }) => reference === discount)!
    return couponNames.find((name) => market.couponRefs[name] === couponRef)!
  }
  for (const name of couponNames) {
    const max =
      'redemptionsPerCustomerMax' in coupons[name] ? coupons[name].redemptionsPerCustomerMax : null
    const count = redeemed.filter(({ reference }) => nameOf(reference) === name).length
    if (max !== null) expect(count, name).toBeLessThanOrEqual(max)
  }
  if (redeemed.length === 0) return
  const lines = await sql<Line[]>`
    select invoice_ref as "invoiceRef", invoices.status, kind, amount::bigint as "amountMinor", inputs,
      period_start as "periodStart"
    from invoice_lines join invoices
      on invoices.provider_id = invoice_lines.provider_id and reference = invoice_ref
    where invoices.provider_id = ${providerId} and customer_ref = ${customer.reference}
    order by invoice_ref, line`
  const invoicesOf = new Map<string, number>()
  for (const invoiceRef of new Set(lines.map((line) => line.invoiceRef))) {
    const own = lines.filter((line) => line.invoiceRef === invoiceRef)
    for (const discount of expectTakenOff(own, nameOf)) {
      invoicesOf.set(discount, (invoicesOf.get(discount) ?? 0) + 1)
    }
  }
  for (const [discount, invoices] of invoicesOf) {
    const { durationInvoices } = coupons[nameOf(discount)]
    if (durationInvoices !== null) {
      expect(invoices, `invoices of ${discount}`).toBeLessThanOrEqual(durationInvoices)
    }
  }
}

/** Checks the discounts of one invoice, which apply one after the other. Returns their references. */
function expectTakenOff(
  lines: readonly Line[],
  nameOf: (discount: string) => CouponName,
): ReadonlySet<string> {
  const discounts = new Set<string>()
  const charged = lines.filter(
    ({ kind, amountMinor }) => discountedKinds.includes(kind) && amountMinor > 0n,
  )
  let left = sumOf(charged) - chargedAgain(lines)
  for (const { inputs, amountMinor, invoiceRef } of lines) {
    if (inputs.kind !== 'discount' || inputs.discount === undefined) continue
    // A change within a period continues the discounts of that period.
    if (inputs.by === 'proration') continue
    const off = offOf(nameOf(inputs.discount), left)
    expect(-amountMinor, `${inputs.discount} on ${invoiceRef}`).toBe(off)
    left -= off
    discounts.add(inputs.discount)
  }
  return discounts
}

/** Returns what the invoice charges again of usage that it credits: this keeps the discount that it had. */
function chargedAgain(lines: readonly Line[]): bigint {
  const usage = lines.filter(({ kind }) => usageKinds.includes(kind))
  const periods = new Set(usage.map(({ periodStart }) => periodStart?.getTime()))
  return [...periods].reduce((sum, start) => {
    const own = usage.filter(({ periodStart }) => periodStart?.getTime() === start)
    const charged = sumOf(own.filter(({ amountMinor }) => amountMinor > 0n))
    const credited = charged - sumOf(own)
    return sum + (charged < credited ? charged : credited)
  }, 0n)
}

function sumOf(lines: readonly Line[]): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}

/** Returns what the coupon takes off, with a percentage rounded half up. */
function offOf(name: CouponName, left: bigint): bigint {
  const { percentOff, amountOffMinor } = coupons[name]
  if (percentOff !== null) return (left * BigInt(percentOff) * 2n + 100n) / 200n
  return amountOffMinor < left ? amountOffMinor : left
}
