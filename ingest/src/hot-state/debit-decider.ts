import { decideDebit, type DebitDecision } from '@tollgate/domain/entitlements/credit-debit'
import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { areCustomersPublished } from '@tollgate/domain/publications/published-since'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { Recent } from '@tollgate/platform/memory/recent'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

import type { KeyHolder } from '../domain/key-holder.ts'
import type { PlacedEvent } from '../domain/placed-event.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { IngestCounts } from '../metrics.ts'

export type DebitDeciderParts = {
  readonly hotState: Pick<
    HotState,
    'cachedEntryDocument' | 'readEntryDocument' | 'readDocument' | 'incarnation'
  >
  readonly documents: EntitlementDocuments
  readonly counts: IngestCounts
  readonly nowMs: () => number
  /** Maximum number of pairs of customer and product that are remembered as paid for by a wallet. */
  readonly payersMax: number
}

export type Decided = {
  readonly decision: DebitDecision
  /** The customer's own reference, where the customer holds the product. */
  readonly ownRef: string | undefined
}

/**
 * Decides debits by the published entitlements of the customer. While these cannot be read, usage that a wallet paid for the last
 * time is refused, because it would be free. All other usage is recorded, and the response does not mention a debit.
 */
export class DebitDecider {
  readonly #parts: DebitDeciderParts
  /** Pairs of customer and product that a wallet paid for the last time, in the order in which they were added. */
  readonly #payers: Recent<true>

  constructor(parts: DebitDeciderParts) {
    this.#parts = parts
    this.#payers = new Recent(parts.payersMax)
  }

  /** Returns a promise only if something must be read. Rejects with UnavailableError if a wallet pays and nothing can be read now. */
  decide(
    { environment }: KeyHolder,
    { event, subject, partition }: PlacedEvent,
  ): Decided | Promise<Decided> {
    const { outcome, meterName, productRef } = event
    if (outcome !== 'success' || productRef === null) {
      return {
        decision: decideDebit({ outcome, meterName, productRef, ...nothingRead }),
        ownRef: undefined,
      }
    }
    const at = { space: environment, partition, subject, scope: productRef }
    const payer = `${environment}:${productRef.length}:${productRef}${subject}`
    try {
      const { hotState } = this.#parts
      const document = hotState.cachedEntryDocument(at)
      if (typeof document === 'string') return this.#decideFor(event, document, payer)
      if (document === undefined && !this.#payers.has(payer)) {
        const known = hotState.cachedEntryDocument({ ...at, scope: '' })
        if (!(known instanceof Promise)) return this.#decideWithout(event, known !== undefined)
      }
      return this.#decideLater(event, at, document, payer).catch(() => this.#decideUnread(payer))
    } catch {
      return this.#decideUnread(payer)
    }
  }

  async #decideLater(
    event: MeterEvent,
    at: EntryPlace,
    reading: Promise<string | undefined> | undefined,
    payer: string,
  ): Promise<Decided> {
    const document = await reading
    if (document !== undefined) return this.#decideFor(event, document, payer)
    await this.#requireNotLost(payer, at)
    // A customer with an entitlement is known. Without one, the customer's document must be read.
    const { hotState } = this.#parts
    return this.#decideWithout(
      event,
      (await hotState.cachedEntryDocument({ ...at, scope: '' })) !== undefined,
    )
  }

  #decideWithout(
    { outcome, meterName, productRef }: MeterEvent,
    isKnownCustomer: boolean,
  ): Decided {
    const decision = decideDebit({
      outcome,
      meterName,
      productRef,
      isKnownCustomer,
      entitlement: undefined,
      nowMs: this.#parts.nowMs(),
    })
    return { decision, ownRef: undefined }
  }

  #decideFor(event: MeterEvent, document: string, payer: string): Decided {
    const { documents, nowMs } = this.#parts
    const entitlement = documents.parse(document)
    const { outcome, meterName, productRef } = event
    // The members are listed one by one: a spread costs as much as everything else that this function does.
    const decision = decideDebit({
      outcome,
      meterName,
      productRef,
      isKnownCustomer: true,
      entitlement,
      nowMs: nowMs(),
    })
    this.#remember(payer, decision.kind === 'due')
    return { decision, ownRef: entitlement.customerRef }
  }

  /** A missing entry may have been lost by the hot state and not yet published again. */
  async #requireNotLost(payer: string, at: EntryPlace): Promise<void> {
    if (!this.#payers.has(payer)) return
    const environment = at.space as Environment
    if (!(await areCustomersPublished(this.#parts.hotState, environment, at.partition))) {
      throw new UnavailableError('The wallet that pays is not known now, try again')
    }
    this.#payers.delete(payer)
  }

  #remember(payer: string, isPayer: boolean): void {
    if (isPayer) {
      if (!this.#payers.has(payer)) this.#payers.set(payer, true)
    } else if (this.#payers.size > 0) {
      this.#payers.delete(payer)
    }
  }

  /**
   * Rejects rather than throws, because decisions about other events of the same request may be in progress, and the caller must
   * await them.
   */
  #decideUnread(payer: string): Decided | Promise<never> {
    if (this.#payers.has(payer)) {
      return Promise.reject(
        new UnavailableError('The wallet that pays cannot be read now, try again'),
      )
    }
    this.#parts.counts.unreadDebits += 1
    return undecided
  }
}

type EntryPlace = Parameters<HotState['readEntryDocument']>[0]

const nothingRead = { isKnownCustomer: false, entitlement: undefined, nowMs: 0 } as const

const undecided: Decided = { decision: { kind: 'silent' }, ownRef: undefined }
