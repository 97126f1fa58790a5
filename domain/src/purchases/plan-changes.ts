import type { Purchase } from './repository.ts'
import { endedSuspended } from './suspension.ts'

/*
 * How the purchases of one product followed each other. A purchase that takes the place of another one names it, and ends it
 * in the transaction that creates it. A purchase that was restored since is no longer replaced.
 */

/** The purchase that gave access until this one took its place; undefined: none did. */
export function replacedBy(
  history: readonly Purchase[],
  { reference }: Purchase,
): Purchase | undefined {
  return linksOf(history).before.get(reference)
}

/** References of purchases whose own periods were charged: what carries them is their own money. */
export type OwnPeriods = ReadonlySet<string>

/** The purchases that the money of this one carries: each goes on with the period of the one before it. Oldest first. */
export function carriedBy(
  history: readonly Purchase[],
  purchase: Purchase,
  ownPeriods: OwnPeriods,
): Purchase[] {
  const { next } = linksOf(history)
  const carried: Purchase[] = []
  let last = purchase
  for (;;) {
    const following = next.get(last.reference)
    if (following === undefined || !isProrated(following, last)) return carried
    if (ownPeriods.has(following.reference)) return carried
    carried.push(following)
    last = following
  }
}

/** The purchases whose money carries this one: itself, and those whose period it goes on with. Newest first. */
export function carriersOf(
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

/** Whether it goes on with the period of the purchase before it, and was charged the difference to it. */
function isProrated(purchase: Purchase, before: Purchase): boolean {
  return purchase.isRecurring && purchase.anchor.getTime() === before.anchor.getTime()
}

/** The purchase before and behind each one, by reference. */
type Links = {
  readonly before: ReadonlyMap<string, Purchase>
  readonly next: ReadonlyMap<string, Purchase>
}

/** One pass, so that many changes of plan cost no more than reading them. */
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
  // Purchases from before `replaces` name none: what ended when they began is what they replaced.
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

/** Whether the purchase gave access until that one was created. */
function endsWith(purchase: Purchase, { createdAt }: Purchase): boolean {
  return purchase.endedAt?.getTime() === createdAt.getTime() && !endedSuspended(purchase)
}
