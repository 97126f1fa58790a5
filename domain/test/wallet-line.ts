/*
 * The simplest model of a wallet: the list of its events, replayed from the start for each result. It knows no postings,
 * holds or publications.
 */

export type WalletEvent =
  | { readonly kind: 'grant'; readonly grant: LineGrant }
  | { readonly kind: 'taken'; readonly credits: number }
  /** Manual removal: the grants are final. */
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
  /** Expired credits. */
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
        // Sorting is stable, so of otherwise equal grants the older one comes first.
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

/** Returns the grants of a removal at this moment. */
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

/** Avoids Infinity - Infinity, which is not a number. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}
