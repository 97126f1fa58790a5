import type { Purchase } from './repository.ts'
import { endedSuspended } from './suspension.ts'

/*
 * Links between the purchases of one product. A purchase that replaces another stores its reference, and ends it in the transaction
 * that creates it. A restored purchase no longer counts as replaced.
 */

/** Returns the purchase that gave access until this one replaced it, undefined if there is none. */
export function replacedBy(
  history: readonly Purchase[],
  { reference }: Purchase,
): Purchase | undefined {
  return linksOf(history).before.get(reference)
}

/** References of purchases that were charged for a period of their own, so they do not depend on payments of earlier purchases. */
export type OwnPeriods = ReadonlySet<string>

/**
 * Returns the purchases that depend on the payment of this one, because each continues the period of the one before. Oldest first.
 */
export function dependentsOf(
  history: readonly Purchase[],
  purchase: Purchase,
  ownPeriods: OwnPeriods,
): Purchase[] {
  const { next } = linksOf(history)
  const dependents: Purchase[] = []
  let last = purchase
  for (;;) {
    const following = next.get(last.reference)
    if (following === undefined || !isProrated(following, last)) return dependents
    if (ownPeriods.has(following.reference)) return dependents
    dependents.push(following)
    last = following
  }
}

/** Returns the purchases whose payments this one depends on: itself, and those whose period it continues. Newest first. */
export function paymentSourcesOf(
  history: readonly Purchase[],
  purchase: Purchase,
  ownPeriods: OwnPeriods,
): Purchase[] {
  const { before } = linksOf(history)
  const carriers = [purchase]
  let first = purchase
  while (!ownPeriods.has(first.reference)) {
    const replaced = before.get(first.reference)
    if (replaced === undefined || !isProrated(first, replaced)) break
    carriers.push(replaced)
    first = replaced
  }
  return carriers
}

/** Returns whether the purchase continues the period of the one before and was charged only the difference. */
function isProrated(purchase: Purchase, before: Purchase): boolean {
  return purchase.isRecurring && purchase.anchor.getTime() === before.anchor.getTime()
}

/** The purchases before and after each purchase, by reference. */
type Links = {
  readonly before: ReadonlyMap<string, Purchase>
  readonly next: ReadonlyMap<string, Purchase>
}

/** Links all purchases in one pass, so that the cost stays linear in the number of purchases. */
function linksOf(history: readonly Purchase[]): Links {
  const before = new Map<string, Purchase>()
  const next = new Map<string, Purchase>()
  const link = (purchase: Purchase, replaced: Purchase): void => {
    before.set(purchase.reference, replaced)
    next.set(replaced.reference, purchase)
  }
  const named = new Map(history.map((each) => [each.reference, each]))
  for (const purchase of history) {
    const replaced = purchase.replaces === null ? undefined : named.get(purchase.replaces)
    if (replaced !== undefined && endsWith(replaced, purchase)) link(purchase, replaced)
  }
  // Purchases from before `replaces` was stored have no link. They replaced the purchase that ended when they were created.
  const unlinked = history.filter((each) => each.endedAt !== null && !next.has(each.reference))
  const ended = new Map(unlinked.map((each) => [each.endedAt!.getTime(), each]))
  for (const purchase of history.filter(({ replaces }) => replaces === null)) {
    const replaced = ended.get(purchase.createdAt.getTime())
    if (replaced !== undefined && replaced !== purchase && endsWith(replaced, purchase)) {
      link(purchase, replaced)
    }
  }
  return { before, next }
}

/** Returns whether the purchase gave access until the other one was created. */
function endsWith(purchase: Purchase, { createdAt }: Purchase): boolean {
  return purchase.endedAt?.getTime() === createdAt.getTime() && !endedSuspended(purchase)
}
