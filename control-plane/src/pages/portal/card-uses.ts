import { findAutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import { isLapsed } from '@tollgate/domain/purchases/access'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { read } from '../../access/read.ts'
import { shownPurchasesOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'
import type { Portal } from './portal.ts'

/** Payments for which the saved card is charged without the customer. */
export type CardUses = {
  readonly renewing: readonly Purchase[]
  readonly hasAutoRecharge: boolean
}

export async function readCardUses(
  pages: PurchaseViewParts,
  { caller, customer }: Portal,
): Promise<CardUses> {
  const { providerId } = caller
  const now = new Date(pages.clock.now())
  const shown = await shownPurchasesOf(pages, caller, { customerRef: customer.reference })
  const recharge = await read(pages, caller, (sql) =>
    findAutoRecharge(sql, providerId, customer.reference),
  )
  return {
    renewing: shown
      .map(({ purchase }) => purchase)
      .filter((purchase) => isPaidByCard(purchase, now)),
    hasAutoRecharge: recharge !== undefined && recharge.status !== 'disabled',
  }
}

function isPaidByCard(purchase: Purchase, now: Date): boolean {
  const { status, planSnapshot, nextBillingDate } = purchase
  if (planSnapshot === null || isLapsed(purchase, now) || isEnding(purchase)) return false
  const isRunning = status === 'active' || status === 'trialing' || status === 'past_due'
  const isPriced = planSnapshot.priceMinor > 0 || (planSnapshot.basePriceMinor ?? 0) > 0
  const isBilled = chargesUsageLater(planSnapshot)
  return isRunning && (isPriced || isBilled) && nextBillingDate !== null
}
