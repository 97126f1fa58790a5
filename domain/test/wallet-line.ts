/*
 * What a wallet is worth, told the simplest way: as the list of what happened to it, done again from the start whenever
 * somebody asks. It knows nothing of postings, holds or publications.
 */

export type WalletEvent =
  | { readonly kind: 'grant'; readonly grant: LineGrant }
  | { readonly kind: 'taken'; readonly credits: number }
  /** By hand: of which grants was said for good. */
  | { readonly kind: 'removed'; readonly from: ReadonlyMap<string, number> }
  | { readonly kind: 'expired'; readonly reference: string }

type LineGrant = {
  readonly reference: string
  readonly credits: number
  readonly priority: number
  readonly expiresAtMs: number
}

export type LineState = {
  readonly left: ReadonlyMap<string, number>
  readonly total: number
  /** What expired. */
  readonly breakage: number
}

export function replay(events: readonly WalletEvent[]): LineState {
  const grants: LineGrant[] = []
  const left = new Map<string, number>()
  let breakage = 0
  for (const event of events) {
    switch (event.kind) {
      case 'grant':
        grants.push(event.grant)
        left.set(event.grant.reference, event.grant.credits)
        // Of two that are alike in all else the older one comes first, and sorting keeps that order.
        grants.sort(burnOrder)
        break
      case 'taken':
        takeFrom(left, inOrder(grants, left, event.credits))
        break
      case 'removed':
        takeFrom(left, event.from)
        break
      case 'expired':
        breakage += left.get(event.reference)!
        left.set(event.reference, 0)
        break
    }
  }
  const total = [...left.values()].reduce((sum, credits) => sum + credits, 0)
  return { left, total, breakage }
}

/** What a removal at this moment is from. */
export function removalOf(events: readonly WalletEvent[], credits: number): Map<string, number> {
  const grants = events.flatMap((event) => (event.kind === 'grant' ? [event.grant] : []))
  return inOrder(grants.toSorted(burnOrder), new Map(replay(events).left), credits)
}

function inOrder(
  grants: readonly LineGrant[],
  left: ReadonlyMap<string, number>,
  credits: number,
): Map<string, number> {
  let due = credits
  const from = new Map<string, number>()
  for (const { reference } of grants) {
    const taken = Math.min(due, left.get(reference)!)
    from.set(reference, taken)
    due -= taken
  }
  if (due > 0) throw new Error(`the wallet owes ${due}`)
  return from
}

function takeFrom(left: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [reference, credits] of from) left.set(reference, left.get(reference)! - credits)
}

function burnOrder(one: LineGrant, other: LineGrant): number {
  return one.priority - other.priority || compare(one.expiresAtMs, other.expiresAtMs)
}

/** Infinity less itself is no number. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}
