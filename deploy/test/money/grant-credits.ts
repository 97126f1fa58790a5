import { createSchedule } from '@tollgate/domain/credit-schedules/create-schedule'
import { moveSchedule, type ScheduleMove } from '@tollgate/domain/credit-schedules/change-schedule'
import { environment } from './environment.ts'
import { findHeld, type Holding } from './change-terms.ts'
import type { CrashingService } from './crashing-service.ts'

/** Days between two grants, and whole credits of each. */
export const grantEveryDays = 10
export const grantedCredits = 3_000

/** Credits for the customer in equal intervals, while its purchase is paid or in any case. */
export type GrantCredits = {
  readonly do: 'grant credits'
  readonly isForPurchase: boolean
  /** Whether unused credits expire with the next grant, which adds a part of them. */
  readonly expires: boolean
}

/** The newest schedule of the customer is paused, resumed or ended. */
export type MoveGrants = { readonly do: 'move the grants'; readonly move: ScheduleMove }

export async function scheduleGrants(
  service: CrashingService,
  holding: Holding,
  { isForPurchase, expires }: GrantCredits,
): Promise<void> {
  const { shop, customer } = holding
  const held = isForPurchase ? await findHeld(service, holding) : undefined
  if (isForPurchase && held === undefined) return
  const input = {
    credits: grantedCredits,
    every: { unit: 'day' as const, count: grantEveryDays },
    ...(expires && { expiry: 'next_grant' as const, rollOverMax: 1_000 }),
    ...(held !== undefined && { purchaseRef: held.reference }),
  }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    createSchedule(work, customer.reference, input),
  )
}

export async function moveGrants(
  service: CrashingService,
  { shop, customer }: Holding,
  { move }: MoveGrants,
): Promise<void> {
  const [newest] = await service.database.in(environment)<{ reference: string }[]>`
    select reference from credit_schedules
    where provider_id = ${shop.providerId} and customer_ref = ${customer.reference}
    order by created_at desc, reference desc limit 1`
  if (newest === undefined) return
  const name = { customerRef: customer.reference, reference: newest.reference }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    moveSchedule(work, name, move),
  )
}
