import type { CreditDebit } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { KeyHolder } from './key-holder.ts'
import type { PlacedEvent } from './placed-event.ts'

/** What a usage call tells about the wallet; undefined: nothing. The answer is at hand unless something must be read. */
export interface DebitDecider {
  decide(
    holder: KeyHolder,
    placed: PlacedEvent,
  ): CreditDebit | undefined | Promise<CreditDebit | undefined>
}

/**
 * Decides for the events of one request. Those of the same customer, product and outcome are told the same, so each
 * such group is decided once.
 */
export async function decideAll(
  debits: DebitDecider,
  holder: KeyHolder,
  places: readonly PlacedEvent[],
): Promise<(CreditDebit | undefined)[]> {
  const decisions = new Map<string, ReturnType<DebitDecider['decide']>>()
  const groups = places.map(({ event }) => groupOf(event))
  places.forEach((placed, index) => {
    const group = groups[index]!
    if (!decisions.has(group)) decisions.set(group, debits.decide(holder, placed))
  })
  for (const [group, decision] of decisions) {
    if (decision instanceof Promise) decisions.set(group, await decision)
  }
  return groups.map((group) => decisions.get(group) as CreditDebit | undefined)
}

/** The product's length stands in front because neither part is free of any separator. */
function groupOf({ outcome, productRef, customerRef }: MeterEvent): string {
  return productRef === null
    ? `${outcome}:${customerRef}`
    : `${outcome}:${productRef.length}:${productRef}${customerRef}`
}

export const duplicateDebit: CreditDebit = { debited: false, reason: 'duplicate' }
