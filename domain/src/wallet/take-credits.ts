import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import type { ReserveOutcome, ReserveRequest } from '@tollgate/platform/hot-state/reservations'
import { walletSeries, walletSubject, walletWindow } from '@tollgate/schemas/hot-state/wallets'
import { usageTopic } from '@tollgate/schemas/topics'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { addressOf, sumsOf, type WalletName, type WalletParts } from './hot-wallet.ts'
import { leftMicros, readWallet } from './read-wallet.ts'
import { WalletFullError } from './wallet-full-error.ts'

/** What a usage record costs. */
export type DueDebit = WalletName & {
  /** Reference of the record that is about to be written: what is taken is held under this name. */
  readonly usageRef: string
  /** 10^-6 credits. */
  readonly dueMicros: bigint
  /** The client chose the record's name by an idempotency key, so another call may hold credits under it at this moment. */
  readonly isKeyed: boolean
}

export type TakenCredits = {
  /** At most what was due; nothing from an empty wallet. 10^-6 credits. */
  readonly takenMicros: bigint
  /** What is left. */
  readonly leftMicros: bigint
}

export type WalletLimits = {
  /** How long to wait for counters that were lost. */
  readonly waitMs: number
  /** How long credits are held for a record that never comes: far longer than writing one can take. */
  readonly heldMs: number
  /** Credits of so many records may be held in one wallet at a time. */
  readonly heldMax: number
}

/** More than any wallet holds, and what the hot state can reserve at once. */
const dueMicrosMax = 2n ** 62n - 1n

/**
 * Takes credits for one usage record, in one atomic step of the hot state. Call it before the record is written, which
 * says how much was taken: the projection turns what is held into what is counted when it meets the record. The order
 * makes it so that no two calls take the same credit:
 *
 *   1. the credits are held. A crash here leaves them held until `heldMs` is over, and then they are given back.
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
    const grantedMicros = (await sumsOf(parts, at, document))?.grantedMicros
    if (grantedMicros === 0n) return { takenMicros: 0n, leftMicros: 0n }
    if (due.dueMicros === 0n) {
      const wallet = await readWallet(parts, due, limits.waitMs)
      return { takenMicros: 0n, leftMicros: leftMicros(wallet) }
    }
    if (grantedMicros !== undefined) {
      const request = await requestOf(parts, due, limits, at, document, grantedMicros)
      const taken = takenOf(await parts.hotState.reserve(request), grantedMicros)
      if (taken !== 'behind') return taken
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

async function requestOf(
  { log }: WalletParts,
  { environment, usageRef, dueMicros }: DueDebit,
  { heldMs, heldMax }: WalletLimits,
  at: EntryAddress,
  document: string | undefined,
  grantedMicros: bigint,
): Promise<ReserveRequest> {
  return {
    at,
    reservationId: usageRef,
    document,
    units: dueMicros < dueMicrosMax ? dueMicros : dueMicrosMax,
    takes: 'rest',
    isReservedFirst: true,
    ttlMs: heldMs,
    subjects: [at.subject],
    series: walletSeries,
    windowId: walletWindow.id,
    cap: grantedMicros,
    minOffset: await log.head(usageTopic(environment), at.partition),
    elsewhere: { amount: 0n, appliedOffsets: new Map() },
    reservationsMax: heldMax,
  }
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
        leftMicros: leftMicros({ grantedMicros, spentMicros }),
      }
    }
  }
}

/** Behind may also mean that another document has been published, for which nobody rings. */
const readAgainAfterMs = 5
const readAgainAfterMsMax = 200
