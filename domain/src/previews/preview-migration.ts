import { listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import {
  resolveMigration,
  type MigrationRefusal,
  type MigrationRequest,
  type ResolvedMigration,
} from '../plan-migrations/create-migration.ts'
import { decideMove, type MoveDecision } from '../plan-migrations/decide-migration.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { changeWithin } from '../purchases/decide-scheduled-change.ts'
import type { Purchase } from '../purchases/repository.ts'
import { processedStatuses } from '../plan-migrations/repository.ts'
import { listClockTimes } from '../test-clocks/customer-time.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import type { PricedHolder } from './price-holder.ts'
import type { PreviewAt, PreviewParts } from './preview-invoices.ts'
import { priceHolders, type PricedPage } from './preview-plan.ts'

/** What a migration would do with a purchase now. */
export type HolderMove =
  | {
      readonly outcome: 'moves'
      readonly effectiveAt: Date
      /** Charged when the change takes effect, in minor units and without tax. Undefined if it waits for a renewal. */
      readonly chargeMinor: bigint | undefined
    }
  | { readonly outcome: Extract<MoveDecision, { kind: 'refused' }>['obstacle'] }

export type MigrationPreview =
  | { readonly kind: 'product-not-found' }
  | MigrationRefusal
  | ({
      readonly kind: 'previewed'
      readonly target: PlanSnapshot
      readonly holders: readonly (PricedHolder & { readonly move: HolderMove })[]
    } & Omit<PricedPage, 'holders'>)

/** Returns what a migration would do with each holder of the plan, by the functions that move them, and what it would cost them. */
export async function previewMigration(
  parts: PreviewParts,
  at: PreviewAt,
  request: MigrationRequest,
  page: { readonly limit: number; readonly offset: number },
): Promise<MigrationPreview> {
  const { providerId, environment, now } = at
  const rows = parts.database.of(providerId).in(environment)
  const resolved = await rows.read(async (sql) => {
    const product = await findProduct(sql, providerId, request.productRef)
    if (product === undefined) return { kind: 'product-not-found' as const }
    return resolveMigration({ sql, providerId }, request)
  })
  if (resolved.kind !== 'resolved') return resolved
  const { of } = resolved
  const priced = await priceHolders(parts, at, filterOf(of), page, of.target)
  const customers = priced.holders.map(({ purchase: { customerRef } }) => ({
    providerId,
    customerRef,
  }))
  const holders = await rows.read(async (sql) => {
    const times = await listClockTimes(sql, environment, customers)
    const moved: (PricedHolder & { readonly move: HolderMove })[] = []
    for (const holder of priced.holders) {
      const { purchase } = holder
      const movedAt = times.get(purchase.customerRef) ?? now
      const move = await moveOf({ sql, providerId, now: movedAt }, of, purchase)
      moved.push({ ...holder, move })
    }
    return moved
  })
  return { kind: 'previewed', target: of.target, ...priced, holders }
}

function filterOf({ productRef, planRef, purchaseRefs, customerRefs }: ResolvedMigration) {
  const only = { references: purchaseRefs, customerRefs }
  return { productRef, planRef, isOfPlan: true, statuses: processedStatuses, ...only }
}

async function moveOf(
  { sql, providerId, now }: ReadingAt,
  of: ResolvedMigration,
  held: Purchase,
): Promise<HolderMove> {
  const decision = decideMove(of, held, now, now)
  if (decision.kind === 'refused') return { outcome: decision.obstacle }
  const { plan, at, billing } = decision.change
  const waits = { outcome: 'moves', effectiveAt: at, chargeMinor: undefined } as const
  if (billing === undefined) return waits
  const discounts = await listPeriodDiscounts(sql, providerId, held.reference)
  const change = changeWithin(held, plan, billing, at, discounts)
  switch (change.kind) {
    case 'change':
      return { ...waits, chargeMinor: totalOf(change.change?.lines ?? []) }
    case 'renewal':
      return { ...waits, effectiveAt: change.at }
    case 'nothing':
    case 'wait':
      return waits
  }
}
