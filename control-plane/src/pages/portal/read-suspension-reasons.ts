import { listDebts } from '@tollgate/domain/invoices/debts'
import { isPurchaseChargedBack } from '@tollgate/domain/billing/charged-back'
import { hasTrial } from '@tollgate/domain/purchases/new-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Queryable } from '@tollgate/platform/database/database'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

/** Why a purchase is suspended, if its customer can end the suspension. */
export type SuspensionReason = 'disputed' | 'unpaid' | 'trial-ended'

/**
 * Returns why purchases are suspended, by reference of the purchase. A purchase that is suspended for another reason has no entry.
 */
export async function readSuspensionReasons(
  pages: ReadParts,
  { caller }: Pick<Portal, 'caller'>,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<string, SuspensionReason>> {
  const reasons = new Map<string, SuspensionReason>()
  const suspended = purchases.filter(({ status }) => status === 'suspended')
  for (const purchase of suspended) {
    const reason = await read(pages, caller, (sql) =>
      suspensionReasonOf(sql, caller.providerId, purchase),
    )
    if (reason !== undefined) reasons.set(purchase.reference, reason)
  }
  return reasons
}

async function suspensionReasonOf(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
): Promise<SuspensionReason | undefined> {
  if (await isPurchaseChargedBack(sql, providerId, purchase)) return 'disputed'
  if ((await listDebts(sql, providerId, purchase)).length > 0) return 'unpaid'
  // When the trial ended, there was no card to charge.
  const { paidAt, planSnapshot } = purchase
  return paidAt === null && planSnapshot !== null && hasTrial(planSnapshot)
    ? 'trial-ended'
    : undefined
}
