import { decideDebit, type DebitDecision } from '@tollgate/domain/entitlements/credit-debit'
import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { CreditDebit } from '@tollgate/schemas/http/usages'
import type { DebitDecider } from '../domain/debit-decider.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { PlacedEvent } from '../domain/placed-event.ts'
import type { IngestCounts } from '../metrics.ts'

export type DebitDeciderParts = {
  readonly hotState: Pick<HotState, 'readEntryDocument'>
  readonly documents: EntitlementDocuments
  readonly counts: IngestCounts
  readonly nowMs: () => number
}

/**
 * Decides debits by the published entries of the customer. A HotState that cannot be read must not keep usage from
 * being recorded: then the answer is silent on debits.
 */
export class EntryDebitDecider implements DebitDecider {
  readonly #parts: DebitDeciderParts

  constructor(parts: DebitDeciderParts) {
    this.#parts = parts
  }

  decide(
    { environment }: KeyHolder,
    { event, subject, partition }: PlacedEvent,
  ): CreditDebit | undefined | Promise<CreditDebit | undefined> {
    const { outcome, productRef } = event
    if (outcome !== 'success' || productRef === null) {
      return toCreditDebit(decideDebit({ outcome, productRef, ...nothingRead }))
    }
    const at = { space: environment, partition, subject, scope: productRef }
    try {
      const document = this.#parts.hotState.readEntryDocument(at)
      if (document === undefined || document instanceof Promise) {
        return this.#decideLater(event, at, document).catch(this.#beSilent)
      }
      return this.#decideFor(event, document)
    } catch {
      return this.#beSilent()
    }
  }

  async #decideLater(
    event: PlacedEvent['event'],
    at: Parameters<HotState['readEntryDocument']>[0],
    reading: Promise<string | undefined> | undefined,
  ): Promise<CreditDebit | undefined> {
    const document = await reading
    if (document !== undefined) return this.#decideFor(event, document)
    // Who has an entitlement is a customer; only without one must that be asked.
    const { hotState, nowMs } = this.#parts
    const isKnownCustomer = (await hotState.readEntryDocument({ ...at, scope: '' })) !== undefined
    const { outcome, productRef } = event
    const call = { outcome, productRef, isKnownCustomer, entitlement: undefined, nowMs: nowMs() }
    return toCreditDebit(decideDebit(call))
  }

  #decideFor(event: PlacedEvent['event'], document: string): CreditDebit | undefined {
    const { documents, nowMs } = this.#parts
    return toCreditDebit(
      decideDebit({
        outcome: event.outcome,
        productRef: event.productRef,
        isKnownCustomer: true,
        entitlement: documents.parse(document),
        nowMs: nowMs(),
      }),
    )
  }

  readonly #beSilent = (): undefined => {
    this.#parts.counts.unreadDebits += 1
  }
}

const nothingRead = { isKnownCustomer: false, entitlement: undefined, nowMs: 0 } as const

function toCreditDebit(decision: DebitDecision): CreditDebit | undefined {
  switch (decision.kind) {
    case 'silent':
      return undefined
    case 'refused':
      return decision.creditDebit
    case 'due':
      // Every wallet is empty as long as nothing can be put into one, and a debit takes at most what is there.
      return { debited: true, amount: 0, unitsRemaining: 0 }
  }
}
