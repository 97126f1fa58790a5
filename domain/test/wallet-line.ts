/*
 * What a wallet is worth, told the simplest way: as the list of what happened to it, done again from the start whenever
 * somebody asks. It knows nothing of postings, holds or publications.
 */

export type WalletEvent =
  | { readonly kind: 'grant'; readonly grant: LineGrant }
  | { readonly kind: 'taken'; readonly credits: number }
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
        grants.sort((a, b) => a.priority - b.priority || compare(a.expiresAtMs, b.expiresAtMs))
        break
      case 'taken': {
        let due = event.credits
        for (const { reference } of grants) {
          const taken = Math.min(due, left.get(reference)!)
          left.set(reference, left.get(reference)! - taken)
          due -= taken
        }
        if (due > 0) throw new Error(`the wallet owes ${due}`)
        break
      }
      case 'expired':
        breakage += left.get(event.reference)!
        left.set(event.reference, 0)
        break
    }
  }
  const total = [...left.values()].reduce((sum, credits) => sum + credits, 0)
  return { left, total, breakage }
}

/** Infinity less itself is no number. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}
