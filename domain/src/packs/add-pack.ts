import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { unitsOfPack } from './pack-terms.ts'
import { insertPack, type AccountName } from './repository.ts'

/** The purchase of a pack. */
type SoldPack = AccountName & {
  readonly reference: string
  readonly anchor: Date
  readonly endDate: Date | null
}

/** Adds the units of a purchased pack, in the transaction that creates the purchase and queues its publication. */
export async function addPack(
  { sql, providerId, now }: UnitOfWork,
  purchase: SoldPack,
  plan: PlanSnapshot,
): Promise<void> {
  const units = unitsOfPack(plan)
  if (units === undefined) throw new Error(`plan ${plan.reference} is no pack`)
  const { reference: purchaseRef, anchor: startsAt, endDate: endsAt } = purchase
  await insertPack(sql, providerId, purchase, { purchaseRef, ...units, startsAt, endsAt }, now)
}
