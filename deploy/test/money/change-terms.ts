import { advanceMigration } from '@tollgate/domain/plan-migrations/advance-migration'
import { createMigration } from '@tollgate/domain/plan-migrations/create-migration'
import type { Purchase } from '@tollgate/domain/purchases/purchase'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import { withdrawChange } from '@tollgate/domain/plan-migrations/withdraw-change'
import { scheduleChange } from '@tollgate/domain/purchases/schedule-change'
import type { Seller } from './seller.ts'
import { environment } from './environment.ts'
import type { CrashingService } from './crashing-service.ts'

/** How a change that the provider schedules is billed. `renewal`: it takes effect with a renewal. */
export type Billing = 'renewal' | 'prorate' | 'keep_period'

/** The provider and the customer whose purchase of the product is changed. */
export type Holding = Seller & { readonly shop: { readonly productRef: string } }

const hourMs = 3_600_000

/** Returns the purchase that decides about the access of the customer. */
export function findHeld(
  service: CrashingService,
  { shop, customer }: Holding,
): Promise<Purchase | undefined> {
  const { providerId, productRef } = shop
  const rows = service.parts.database.of(providerId).in(environment)
  return rows.read((sql) => findDecidingPurchase(sql, providerId, customer.reference, productRef))
}

/**
 * Schedules a change of the purchase to the plan in some hours, or with the first renewal after them. Returns false if it is refused.
 */
export async function scheduleFor(
  service: CrashingService,
  holding: Holding,
  { planRef, billing, hours }: { planRef: string; billing: Billing; hours: number },
): Promise<boolean> {
  const held = await findHeld(service, holding)
  if (held === undefined) return false
  const operation = service.operation(holding.shop.providerId)
  const request = {
    purchaseRef: held.reference,
    planRef,
    effectiveAt: new Date(operation.now.getTime() + hours * hourMs),
    billing: billing === 'renewal' ? undefined : billing,
  }
  const outcome = await service.parts.commit(operation, (work) => scheduleChange(work, request))
  return outcome.kind === 'scheduled'
}

/** Withdraws the scheduled change of the purchase. */
export async function withdrawFrom(service: CrashingService, holding: Holding): Promise<void> {
  const held = await findHeld(service, holding)
  if (held === undefined) return
  await service.parts.commit(service.operation(holding.shop.providerId), (work) =>
    withdrawChange(work, held.reference),
  )
}

/** Moves the purchase of this customer to the current terms of the plan. Returns false if the purchase is left as it is. */
export async function migrate(
  service: CrashingService,
  holding: Holding,
  { planRef: toPlanRef, billing }: { planRef: string; billing: Billing },
): Promise<boolean> {
  const { shop, customer } = holding
  const held = await findHeld(service, holding)
  if (held === undefined || held.planRef === null) return false
  const operation = service.operation(shop.providerId)
  const terms =
    billing === 'renewal' ? { when: 'renewal' as const } : { when: 'now' as const, billing }
  const input = { ...terms, toPlanRef, notice: false as const, customerRefs: [customer.reference] }
  const request = { productRef: shop.productRef, planRef: held.planRef, input }
  const created = await service.parts.commit(operation, (work) => createMigration(work, request))
  if (created.kind !== 'created') return false
  const { reference } = created.migration
  const limits = { pageMax: 10, inFlightMax: 1 }
  const { now } = operation
  const context = {
    now,
    commit: <Result>(body: Parameters<typeof service.parts.commit<Result>>[1]) =>
      service.parts.commit(operation, body),
  }
  while (await advanceMigration(context, reference, limits));
  return (await findHeld(service, holding))?.scheduledMigration === reference
}
