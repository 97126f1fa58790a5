import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import type { ReserveOutcome, ReserveRequest } from '@tollgate/platform/hot-state/reservations'
import { walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { placeOfReservation } from '@tollgate/schemas/reservation-reference'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import {
  addressOf,
  sumsOf,
  type PublishedSums,
  type WalletName,
  type WalletParts,
} from './hot-wallet.ts'
import { spendableMicros, readWallet } from './read-wallet.ts'
import { WalletFullError } from './wallet-full-error.ts'
import { walletRequest } from './wallet-request.ts'

/** What a usage record costs. */
export type DueDebit = WalletName & {
  /** Reference of the record that is about to be written: what is taken is held under this name. */
  readonly usageRef: string
  /** 10^-6 credits. */
  readonly dueMicros: bigint
  /** The client chose the record's name by an idempotency key, so another call may hold credits under it at this moment. */
  readonly isKeyed: boolean
  /** The reservation that the record names. If it holds credits of this wallet, the debit takes these first. */
  readonly reservationId?: string | null
}

export type TakenCredits = {
  /** At most what was due; nothing from an empty wallet. 10^-6 credits. */
  readonly takenMicros: bigint
  /** What is left. */
  readonly leftMicros: bigint
  /** Undefined: no auto-recharge of the customer is active, as far as is published. */
  readonly recharge?: PublishedRecharge | undefined
}

export type PublishedRecharge = {
  /** With less than that it may buy more. */
  readonly belowMicros: bigint
  /** All that was ever put in, when this was said: more says that it has bought. */
  readonly grantedMicros: bigint
}

export type WalletLimits = {
  /** How long to wait for counters that were lost. */
  readonly waitMs: number
  /** How long credits are held for a record that never comes: far longer than writing one can take. */
  readonly heldMs: number
  /** Credits of so many records may be held in one wallet at a time. */
  readonly heldMax: number
}

/**
 * Takes credits for one usage record, in one atomic step of the hot state. Call it before the record is written, which
 * says how much was taken: the projection turns what is held into what is counted when it meets the record. The order
 * makes it so that no two calls take the same credit:
 *
 *   1. the credits are held. A crash here leaves them held until `heldMs` is over, and then they are given back. The same
 *      step ends the reservation that the record names: the record holds what it takes of it, and the wallet has the rest.
 *      One that has expired by then has given its credits back, and the record takes what is there.
 *   2. the record is in the log, and the caller is answered.
 *   3. the record is counted, and in the same step nothing is held for it any more.
 *
 * A call with the same reference is told of the first one. Throws UsageBehindError while lost counters are made again,
 * and WalletFullError.
 */
export async function takeCredits(
  parts: WalletParts,
  due: DueDebit,
  limits: WalletLimits,
): Promise<TakenCredits> {
  const at = addressOf(parts, due)
  const deadline = performance.now() + limits.waitMs
  let pauseMs = readAgainAfterMs
  for (;;) {
    const document = await parts.hotState.readEntryDocument(at)
    const sums = await sumsOf(parts, at, document)
    const grantedMicros = sums?.grantedMicros
    const recharge = sums && publishedRecharge(sums)
    if (grantedMicros === 0n) return { takenMicros: 0n, leftMicros: 0n, recharge }
    if (due.dueMicros === 0n) {
      const wallet = await readWallet(parts, due, limits.waitMs)
      return { takenMicros: 0n, leftMicros: spendableMicros(wallet), recharge }
    }
    if (grantedMicros !== undefined) {
      const request = await requestOf(parts, due, limits, at, document, grantedMicros)
      const taken = takenOf(await parts.hotState.reserve(request), grantedMicros)
      if (taken !== 'behind') return { ...taken, recharge }
    }
    if (performance.now() >= deadline) throw new UsageBehindError(0)
    await parts.hotState.waitForApply(pauseMs)
    pauseMs = Math.min(pauseMs * 2, readAgainAfterMsMax)
  }
}

/**
 * The same for many records. Of each wallet one goes ahead, so that where it has to be waited for one does it for all.
 * Where one fails all do. Then nothing stays held but under keys: a twin of this call may be about to write its record,
 * and its credits must not be given to others before that is counted. The client's next try uses them, or they expire.
 */
export async function takeAllCredits(
  parts: WalletParts,
  due: readonly DueDebit[],
  limits: WalletLimits,
): Promise<TakenCredits[]> {
  const ahead = new Map<string, Promise<unknown>>()
  const taking = due.map(async (each): Promise<TakenCredits> => {
    const wallet = walletSubject(each.providerId, each.customerRef)
    const first = ahead.get(wallet)
    if (first !== undefined) {
      await first
      return await takeCredits(parts, each, limits)
    }
    const taken = takeCredits(parts, each, limits)
    ahead.set(wallet, taken)
    return await taken
  })
  const outcomes = await Promise.allSettled(taking)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed === undefined) return await Promise.all(taking)
  await Promise.allSettled(
    due.map(async (each, index) => {
      if (outcomes[index]!.status === 'rejected' || each.isKeyed) return
      await parts.hotState.releaseReservation(addressOf(parts, each), each.usageRef)
    }),
  )
  throw failed.reason
}

function publishedRecharge({
  grantedMicros,
  rechargeBelowMicros: belowMicros,
}: PublishedSums): PublishedRecharge | undefined {
  return belowMicros === undefined ? undefined : { belowMicros, grantedMicros }
}

async function requestOf(
  parts: WalletParts,
  { customerRef, usageRef, dueMicros, reservationId }: DueDebit,
  { heldMs, heldMax }: WalletLimits,
  at: EntryAddress,
  document: string | undefined,
  grantedMicros: bigint,
): Promise<ReserveRequest> {
  const isOwn = placeOfReservation(reservationId ?? '')?.customerRef === customerRef
  const request = await walletRequest(parts, at, {
    document,
    units: dueMicros,
    takes: 'rest',
    replaces: isOwn ? (reservationId ?? undefined) : undefined,
    cap: grantedMicros,
    reservationsMax: heldMax,
  })
  return { ...request, reservationId: usageRef, ttlMs: heldMs }
}

function takenOf(outcome: ReserveOutcome, grantedMicros: bigint): TakenCredits | 'behind' {
  switch (outcome.kind) {
    case 'behind':
      return 'behind'
    case 'full':
      throw new WalletFullError()
    case 'admitted':
    case 'denied': {
      const spentMicros = outcome.taken.used + outcome.taken.reserved
      return {
        takenMicros: outcome.kind === 'admitted' ? outcome.units : 0n,
        leftMicros: spendableMicros({ grantedMicros, spentMicros }),
      }
    }
  }
}

/** Behind may also mean that another document has been published, for which nobody rings. */
const readAgainAfterMs = 5
const readAgainAfterMsMax = 200
