import { decideDebit, type DebitDecision } from '@tollgate/domain/entitlements/credit-debit'
import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { areCustomersPublished } from '@tollgate/domain/publications/published-since'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

import type { KeyHolder } from '../domain/key-holder.ts'
import type { PlacedEvent } from '../domain/placed-event.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { IngestCounts } from '../metrics.ts'

export type DebitDeciderParts = {
  readonly hotState: Pick<HotState, 'readEntryDocument' | 'readDocument' | 'incarnation'>
  readonly documents: EntitlementDocuments
  readonly counts: IngestCounts
  readonly nowMs: () => number
  /** Customers and products that are remembered as paid from a wallet. */
  readonly payersMax: number
}

export type Decided = {
  readonly decision: DebitDecision
  /** The customer's own reference, where the customer holds the product. */
  readonly ownRef: string | undefined
}

/**
 * Decides debits by the published entries of the customer. While these cannot be read, usage that a wallet paid the last
 * time is refused, since it would be free; all other usage is recorded, and the answer is silent on debits.
 */
export class DebitDecider {
  readonly #parts: DebitDeciderParts
  /** What a wallet paid for the last time, in the order in which that was seen first. */
  readonly #payers = new Set<string>()

  constructor(parts: DebitDeciderParts) {
    this.#parts = parts
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
      const document = this.#parts.hotState.readEntryDocument(at)
      if (document === undefined || document instanceof Promise) {
        return this.#decideLater(event, at, document, payer).catch(() => this.#beSilent(payer))
      }
      return this.#decideFor(event, document, payer)
    } catch {
      return this.#beSilent(payer)
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
    await this.#expectNotLost(payer, at)
    // Who has an entitlement is a customer; only without one must that be asked.
    const { hotState, nowMs } = this.#parts
    const isKnownCustomer = (await hotState.readEntryDocument({ ...at, scope: '' })) !== undefined
    const { outcome, meterName, productRef } = event
    const told = { outcome, meterName, productRef, nowMs: nowMs() }
    const decision = decideDebit({ ...told, isKnownCustomer, entitlement: undefined })
    return { decision, ownRef: undefined }
  }

  #decideFor(event: MeterEvent, document: string, payer: string): Decided {
    const { documents, nowMs } = this.#parts
    const entitlement = documents.parse(document)
    const { outcome, meterName, productRef } = event
    // Member by member: a spread costs as much as all else that is done here for an event.
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

  /** What is not there may have been lost, and not be published again yet. */
  async #expectNotLost(payer: string, at: EntryPlace): Promise<void> {
    if (!this.#payers.has(payer)) return
    const environment = at.space as Environment
    if (!(await areCustomersPublished(this.#parts.hotState, environment, at.partition))) {
      throw new UnavailableError('The wallet that pays is not known now, try again')
    }
    this.#payers.delete(payer)
  }

  #remember(payer: string, isPayer: boolean): void {
    if (!isPayer) {
      if (this.#payers.size > 0) this.#payers.delete(payer)
      return
    }
    if (this.#payers.has(payer)) return
    if (this.#payers.size >= this.#parts.payersMax) {
      for (const oldest of this.#payers) {
        this.#payers.delete(oldest)
        break
      }
    }
    this.#payers.add(payer)
  }

  /** Rejects rather than throws: of the events of one call, others may be under way, which somebody must wait for. */
  #beSilent(payer: string): Decided | Promise<never> {
    if (this.#payers.has(payer)) {
      return Promise.reject(
        new UnavailableError('The wallet that pays cannot be read now, try again'),
      )
    }
    this.#parts.counts.unreadDebits += 1
    return silent
  }
}

type EntryPlace = Parameters<HotState['readEntryDocument']>[0]

const nothingRead = { isKnownCustomer: false, entitlement: undefined, nowMs: 0 } as const

const silent: Decided = { decision: { kind: 'silent' }, ownRef: undefined }
