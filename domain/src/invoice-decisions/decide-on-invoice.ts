import { sha256OfInput } from '../money-ledger/ledger.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { creditByDecision } from './credit-by-decision.ts'
import { giveUpByDecision } from './give-up-by-decision.ts'
import type {
  DecidedChange,
  DecisionOutcome,
  DecisionRefusal,
  DecisionRequest,
  InvoiceChange,
  InvoiceDecision,
} from './invoice-decision.ts'
import { lockDecided, type DecidedInvoice } from './lock-decided.ts'
import { payOutsideByDecision } from './pay-outside-by-decision.ts'
import { refundByDecision } from './refund-by-decision.ts'
import { findDecisionOfKey, insertDecision } from './repository.ts'
import { changeDueDate, holdByDecision, releaseByDecision } from './reschedule-by-decision.ts'
import { findRepeated } from './find-repeated.ts'

/**
 * Changes an invoice as a person decided, and stores the decision with its reason. All of it is one transaction, so a crash leaves
 * either nothing or the change with its decision, its postings and what follows for the purchase. A payment that is in progress is
 * cancelled; if it succeeds all the same, it does not fit the amount due any more and is refunded.
 */
export async function decideOnInvoice(
  work: UnitOfWork,
  request: DecisionRequest,
): Promise<DecisionOutcome> {
  const { sql, providerId, idempotencyKey } = work
  const inputSha256 = sha256OfInput(inputOf(request))
  const decided = await lockDecided(work, request.invoiceRef)
  if (decided === undefined) return { kind: 'not-found' }
  const before = await findRepeated(work, inputSha256, (key) =>
    findDecisionOfKey(sql, providerId, key),
  )
  if (before === 'key-reused') return { kind: 'key-reused' }
  if (before !== undefined) return { kind: 'decided', decision: before.decision }
  const changed = await change(work, decided, request)
  if (changed.kind !== 'changed') return changed
  const decision: InvoiceDecision = {
    reference: generateReference('invoiceDecision'),
    invoiceRef: request.invoiceRef,
    kind: request.change.kind,
    amountMinor: changed.amountMinor,
    reason: request.reason,
    decidedBy: work.actor.name,
    creditNoteRef: changed.creditNoteRef ?? null,
    refundRef: changed.refundRef ?? null,
    createdAt: work.now,
  }
  await insertDecision(sql, providerId, decision, { idempotencyKey, inputSha256 })
  return { kind: 'decided', decision }
}

function change(
  work: UnitOfWork,
  decided: DecidedInvoice,
  { change: wanted, reason }: DecisionRequest,
): Promise<DecidedChange | DecisionRefusal> {
  switch (wanted.kind) {
    case 'credited':
      return creditByDecision(work, decided, { ...wanted, reason })
    case 'voided':
    case 'written_off':
      return giveUpByDecision(work, decided, wanted.kind)
    case 'paid_outside':
      return payOutsideByDecision(work, decided, wanted.amountMinor)
    case 'refunded':
      return refundByDecision(work, decided, { ...wanted, reason })
    case 'due_date':
      return changeDueDate(work, decided, wanted.dueAt)
    case 'held':
      return holdByDecision(work, decided)
    case 'released':
      return releaseByDecision(work, decided)
  }
}

function inputOf({ invoiceRef, reason, change }: DecisionRequest): string[] {
  return [invoiceRef, reason, ...textsOf(change)]
}

function textsOf(change: InvoiceChange): string[] {
  switch (change.kind) {
    case 'credited': {
      const lines = change.lines?.map(({ line, amountMinor }) => `${line}:${amountMinor}`)
      return [change.kind, String(change.amountMinor), String(lines)]
    }
    case 'paid_outside':
      return [change.kind, String(change.amountMinor)]
    case 'refunded':
      return [change.kind, change.goesTo, String(change.amountMinor)]
    case 'due_date':
      return [change.kind, change.dueAt.toISOString()]
    case 'voided':
    case 'written_off':
    case 'held':
    case 'released':
      return [change.kind]
  }
}
