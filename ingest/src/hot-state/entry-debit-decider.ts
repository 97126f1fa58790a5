import { decideDebit, type DebitDecision } from '@tollgate/domain/entitlements/credit-debit'
import type { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { CreditDebit } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import type { DebitDecider } from '../domain/debit-decider.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { IngestCounts } from '../metrics.ts'

export type DebitDeciderParts = {
  readonly log: Pick<EventLog, 'partitionCount'>
  readonly hotState: Pick<HotState, 'readEntryDocument'>
  readonly documents: EntitlementDocuments
  readonly counts: IngestCounts
  readonly nowMs: () => number
}

/** Decides debits by the published entries of the customer. */
export class EntryDebitDecider implements DebitDecider {
  readonly #parts: DebitDeciderParts

  constructor(parts: DebitDeciderParts) {
    this.#parts = parts
  }

  decide(
    holder: KeyHolder,
    event: MeterEvent,
  ): CreditDebit | undefined | Promise<CreditDebit | undefined> {
    const { outcome, productRef } = event
    if (outcome === 'success' && productRef !== null) return this.#read(holder, event, productRef)
    return toCreditDebit(decideDebit({ outcome, productRef, ...nothingRead }))
  }

  /** A HotState that cannot be read must not keep usage from being recorded: then the answer is silent on debits. */
  async #read(
    holder: KeyHolder,
    event: MeterEvent,
    productRef: string,
  ): Promise<CreditDebit | undefined> {
    try {
      return toCreditDebit(await this.#decideByEntries(holder, event, productRef))
    } catch {
      this.#parts.counts.unreadDebits += 1
      return undefined
    }
  }

  async #decideByEntries(
    { environment, providerId }: KeyHolder,
    event: MeterEvent,
    productRef: string,
  ): Promise<DebitDecision> {
    const { log, hotState, documents, nowMs } = this.#parts
    const subject = subjectKey(providerId, event.customerRef)
    const partition = partitionOf(subject, log.partitionCount(usageTopic(environment)))
    const place = { space: environment, partition, subject }
    const document = await hotState.readEntryDocument({ ...place, scope: productRef })
    // Who has an entitlement is a customer; only without one must that be asked.
    const isKnownCustomer =
      document !== undefined ||
      (await hotState.readEntryDocument({ ...place, scope: '' })) !== undefined
    return decideDebit({
      outcome: event.outcome,
      productRef,
      isKnownCustomer,
      entitlement: document === undefined ? undefined : documents.parse(document),
      nowMs: nowMs(),
    })
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
