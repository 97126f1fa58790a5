import { affordableCalls, chargedFields } from '@tollgate/domain/entitlements/charge-debits'
import {
  dueCredits,
  type DebitDecision,
  type DueCredits,
} from '@tollgate/domain/entitlements/credit-debit'
import { affordableUnits, wholeCredits } from '@tollgate/domain/money/whole-credits'
import type { DueDebit, HeldUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import type { CreditDebit } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { Decided, DebitDecider } from '../hot-state/debit-decider.ts'
import type { LogRecorder, RecordOutcome } from '../event-log/log-recorder.ts'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { LowWallet } from '../domain/recharges.ts'
import type { PauseAfterFailure } from '../domain/pause-after-failure.ts'
import type { PlacedEvent, PlaceEvent } from '../domain/placed-event.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Wallets } from '../domain/wallets.ts'

export type UsageRecordingParts = {
  readonly recorder: LogRecorder
  readonly debits: DebitDecider
  readonly wallets: Wallets
  readonly place: PlaceEvent
  /**
   * Pauses paid usage after the log refused an append. Each such attempt holds credits until the hold expires, so only few calls
   * may try while the log is down.
   */
  readonly paidPause: PauseAfterFailure
}

/** The result of one usage call. Without `debit`, the response says nothing about a wallet. */
export type RecordedUsage = {
  readonly outcome: RecordOutcome
  readonly debit: CreditDebit | undefined
  /** The wallet that paid, if its balance is now below the threshold of its auto-recharge. */
  readonly low?: LowWallet | undefined
}

const duplicate: RecordedUsage = {
  outcome: 'duplicate',
  debit: { debited: false, reason: 'duplicate' },
}

/**
 * Records one usage call and debits the customer's wallet if the plan says so. Usage that a wallet pays for is recorded in the
 * partition of the customer's own reference, which is also the wallet's partition. The counters projection can therefore debit the
 * wallet in the same step that counts the usage. `holdUsageCredits` documents the order of effects and what a crash leaves behind.
 */
export function recordUsage(
  parts: UsageRecordingParts,
  holder: KeyHolder,
  event: MeterEvent,
): Promise<RecordedUsage> {
  const { environment } = holder
  const placed = parts.place(environment, event)
  const decided = parts.debits.decide(holder, placed)
  if (decided instanceof Promise) {
    return decided.then((then) => recordOne(parts, holder, placed, then))
  }
  return recordOne(parts, holder, placed, decided)
}

function recordOne(
  parts: UsageRecordingParts,
  holder: KeyHolder,
  placed: PlacedEvent,
  decided: Decided,
): Promise<RecordedUsage> {
  const { environment } = holder
  const { decision } = decided
  if (decision.kind === 'due') {
    return recordDecided(parts, holder, [placed], [decided]).then(([recorded]) => recorded!)
  }
  const debit = unpaidDebitOf(decision)
  return parts.recorder
    .record(environment, placeOf(parts, environment, placed, decided))
    .then((outcome) => (outcome === 'duplicate' ? duplicate : { outcome, debit }))
}

/**
 * Records many usage calls like `recordUsage`. Either all are recorded or none. While the log writes, events are kept only if one
 * of them has an idempotency key or is paid from a wallet.
 */
export function recordAllUsage(
  parts: UsageRecordingParts,
  holder: KeyHolder,
  events: readonly MeterEvent[],
): Promise<RecordedUsage[]> {
  const { environment } = holder
  const placed = events.map((event) => parts.place(environment, event))
  const decided = decideAll(parts.debits, holder, placed)
  if (decided instanceof Promise) {
    return decided.then((then) => recordDecided(parts, holder, placed, then))
  }
  return recordDecided(parts, holder, placed, decided)
}

function recordDecided(
  parts: UsageRecordingParts,
  holder: KeyHolder,
  placed: readonly PlacedEvent[],
  decided: readonly Decided[],
): Promise<RecordedUsage[]> {
  const { environment } = holder
  const toRecord = placed.map((each, index) => placeOf(parts, environment, each, decided[index]!))
  if (decided.some(({ decision }) => decision.kind === 'due')) {
    return recordPaid(parts, holder, toRecord, decided)
  }
  const debits = decided.map(({ decision }) => unpaidDebitOf(decision))
  return parts.recorder
    .recordAll(environment, toRecord)
    .then((outcomes) =>
      outcomes.map((outcome, index) =>
        outcome === 'duplicate' ? duplicate : { outcome, debit: debits[index] },
      ),
    )
}

async function recordPaid(
  parts: UsageRecordingParts,
  holder: KeyHolder,
  placed: readonly PlacedEvent[],
  decided: readonly Decided[],
): Promise<RecordedUsage[]> {
  if (parts.paidPause.isOn) throw new UnavailableError('Usage cannot be recorded now')
  parts.recorder.requireCapacity(placed.length)
  const paid = await holdCredits(parts, holder, placed, decided)
  const { environment } = holder
  const toRecord = paid.map((each) => each.placed)
  let outcomes: RecordOutcome[]
  try {
    outcomes = await parts.recorder.recordAll(environment, toRecord)
  } catch (error) {
    parts.paidPause.begin()
    throw error
  }
  return outcomes.map((outcome, index) => {
    if (outcome === 'duplicate') return duplicate
    const { debit, low } = paid[index]!
    return { outcome, debit, low }
  })
}

/**
 * Decides once for each group of events with the same customer, product, meter and outcome, since the decision is the same for all
 * of them.
 */
function decideAll(
  debits: DebitDecider,
  holder: KeyHolder,
  placed: readonly PlacedEvent[],
): Decided[] | Promise<Decided[]> {
  /** The first event of each group, by customer. */
  const groups = new Map<string, number[]>()
  const decided: Decided[] = []
  const pending: Promise<void>[] = []
  const decidedAt = placed.map((each, at) => {
    const { customerRef } = each.event
    const ofCustomer = groups.get(customerRef)
    const known = ofCustomer?.find((first) => isSameGroup(placed[first]!.event, each.event))
    if (known !== undefined) return known
    if (ofCustomer === undefined) groups.set(customerRef, [at])
    else ofCustomer.push(at)
    const answer = debits.decide(holder, each)
    // Nearly all decisions are synchronous, and a promise for each would cost more than the decision.
    if (answer instanceof Promise) pending.push(answer.then((then) => void (decided[at] = then)))
    else decided[at] = answer
    return at
  })
  const inOrder = (): Decided[] => decidedAt.map((at) => decided[at]!)
  return pending.length === 0 ? inOrder() : Promise.all(pending).then(inOrder)
}

/** Returns whether two events of one customer get the same decision. */
function isSameGroup(one: MeterEvent, other: MeterEvent): boolean {
  return (
    one.outcome === other.outcome &&
    one.meterName === other.meterName &&
    one.productRef === other.productRef
  )
}

type Due = DueDebit & { readonly cost: DueCredits }

type Paid = Pick<RecordedUsage, 'debit' | 'low'> & { readonly placed: PlacedEvent }

/**
 * Holds the credits for the events that are due. Events that were recorded before cost nothing, and events that no wallet pays for
 * stay unchanged.
 */
async function holdCredits(
  parts: UsageRecordingParts,
  holder: KeyHolder,
  placed: readonly PlacedEvent[],
  decided: readonly Decided[],
): Promise<Paid[]> {
  const { environment, providerId } = holder
  const due = new Map<number, Due>()
  decided.forEach(({ decision }, index) => {
    if (decision.kind !== 'due') return
    const { customerRef, price } = decision
    const { event } = placed[index]!
    const cost = dueCredits(price, event)
    if (cost === undefined) return
    const { id: usageRef, idempotencyKey, reservationId } = event
    const isKeyed = idempotencyKey !== null
    const named = { environment, providerId, customerRef, usageRef, reservationId }
    due.set(index, { ...named, dueMicros: cost.micros, isKeyed, cost })
  })
  if (due.size > 0) {
    const keyed = [...due.keys()].map((index) => placed[index]!)
    const known = await parts.recorder.listKnown(environment, keyed)
    for (const [index, { usageRef }] of due) if (known.has(usageRef)) due.delete(index)
  }
  const held = due.size === 0 ? [] : await parts.wallets.hold([...due.values()])
  const heldAt = new Map([...due.keys()].map((index, at) => [index, held[at]!]))
  return placed.map((each, index) => {
    const credits = heldAt.get(index)
    const { decision } = decided[index]!
    if (credits === undefined) return { placed: each, debit: unpaidDebitOf(decision) }
    const owed = due.get(index)!
    const debit = debitOf(decision, owed.cost, credits)
    return { placed: withDebit(each, credits), debit, low: lowWalletOf(owed, credits) }
  })
}

function lowWalletOf(
  { environment, providerId, customerRef }: DueDebit,
  { heldMicros, leftMicros, recharge }: HeldUsageCredits,
): LowWallet | undefined {
  if (recharge === undefined || heldMicros === 0n || leftMicros >= recharge.belowMicros) {
    return undefined
  }
  return { environment, providerId, customerRef, recharge }
}

function withDebit(placed: PlacedEvent, { heldMicros }: HeldUsageCredits): PlacedEvent {
  if (heldMicros === 0n) return placed
  return { ...placed, event: { ...placed.event, debit: heldMicros.toString() } }
}

function debitOf(
  decision: DebitDecision,
  { charges }: DueCredits,
  { heldMicros, leftMicros, recharge }: HeldUsageCredits,
): CreditDebit | undefined {
  if (decision.kind !== 'due') return undefined
  const { price } = decision
  const debit = {
    debited: true as const,
    amount: wholeCredits(heldMicros),
    unitsRemaining:
      'creditsPerUnit' in price
        ? affordableUnits(leftMicros, price.creditsPerUnit)
        : affordableCalls(leftMicros, charges ?? []),
    ...(charges === undefined ? {} : chargedFields(heldMicros, charges)),
  }
  return recharge === undefined ? debit : { ...debit, autoRecharge: { triggered: false } }
}

/** Returns the `creditDebit` of usage that no wallet pays for. */
function unpaidDebitOf(decision: DebitDecision): CreditDebit | undefined {
  if (decision.kind === 'due') return { debited: false, reason: 'no_charge' }
  return decision.kind === 'refused' ? decision.creditDebit : undefined
}

/**
 * Returns the partition of an event. Usage that a wallet pays for is recorded under the customer's own reference. Other usage stays
 * in its partition; if it has an idempotency key, the wallet's partition is also searched for that key.
 */
function placeOf(
  { place }: UsageRecordingParts,
  environment: KeyHolder['environment'],
  placed: PlacedEvent,
  { decision, ownRef }: Decided,
): PlacedEvent {
  const { event, partition } = placed
  if (ownRef === undefined || ownRef === event.customerRef) return placed
  if (decision.kind !== 'due' && event.idempotencyKey === null) return placed
  const own = place(environment, { ...event, customerRef: ownRef })
  return decision.kind === 'due'
    ? { ...own, otherPartition: partition }
    : { ...placed, otherPartition: own.partition }
}
