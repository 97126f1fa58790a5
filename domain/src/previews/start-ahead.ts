import type { Customer } from '../customers/repository.ts'
import { findOverrides } from '../overrides/repository.ts'
import { decideEndOfPrevious } from '../purchases/decide-end-of-previous.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { fieldsOfEnd, movedPurchase } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import type { PlanStart } from './plan-start.ts'

export type StartedAhead = {
  readonly started: Purchase
  /** The purchase before as it would have ended. Undefined if it had ended already, or there was none. */
  readonly ended: Purchase | undefined
}

/** Returns the purchase that would begin now, linked to the one before. */
export async function startAhead(
  at: ReadingAt,
  customer: Customer,
  previous: Purchase | undefined,
  begun: PlanStart,
): Promise<StartedAhead> {
  const { now } = at
  const alone = await begun.start(at, customer)
  const { customerRef, productRef } = alone
  // All purchases of the customer and product have the same overrides.
  const overrides =
    previous === undefined
      ? await findOverrides(at.sql, at.providerId, customerRef, productRef)
      : previous.overrides
  if (previous === undefined) return { started: { ...alone, overrides }, ended: undefined }
  const end = decideEndOfPrevious(previous, now)
  const ended =
    end && movedPurchase(previous, end.trigger, { ...fieldsOfEnd(now), endedAt: end.endedAt }, now)
  const replaced = end?.isReplaced === true ? ended : undefined
  const linked = await linkToPredecessor(at, alone, { previous, replaced }, begun.isPaidInFull)
  return { started: { ...linked, overrides }, ended }
}
