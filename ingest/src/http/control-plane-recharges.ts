import { setTimeout as sleep } from 'node:timers/promises'
import { rechargeBeginningsPath, rechargeBegunSchema } from '@tollgate/schemas/http/auto-recharge'
import type { CallControlPlane } from '../domain/call-control-plane.ts'
import { PauseAfterFailure } from '../domain/pause-after-failure.ts'
import type { LowWallet, Recharges } from '../domain/recharges.ts'

export type RechargeLimits = {
  /** Maximum number of calls at a time. The payment job handles wallets for which no call is free. */
  readonly callsMax: number
  /** Milliseconds that a response to usage waits. If a call takes longer and then fails, the payment job starts the charge. */
  readonly waitMs: number
  /** Milliseconds without a call about a wallet that cannot be charged or whose charge is in progress. */
  readonly pauseMs: number
}

/** The wallets of one provider may use a quarter of the calls, so that slow calls about them do not block all others. */
const sharesOfCalls = 4

/**
 * At most `callsOfWalletMax` calls are made about one wallet within `windowMs`, unless credits are granted meanwhile. More than one
 * is needed, because the control plane may refuse the first debit below the threshold while its counters lag.
 */
const windowMs = 30_000
const callsOfWalletMax = 20
const walletsMax = 10_000

/**
 * Reasons that the next debit or the next key may change. A refusal of the key says nothing about the wallet. All other reasons
 * last, since a charge in progress ends with credits or a decline.
 */
const passingReasons: ReadonlySet<string> = new Set([
  ...['enough', 'counters_behind'],
  ...['status_401', 'status_403', 'status_429'],
])

type WalletCalls = {
  readonly grantedMicros: bigint
  untilMs: number
  callsLeft: number
}

/** Asks the control plane to start top-ups. Only the control plane decides, and it starts each charge at most once. */
export class ControlPlaneRecharges implements Recharges {
  readonly #callControlPlane: CallControlPlane
  readonly #refusals: Map<string, number>
  readonly #limits: RechargeLimits
  readonly #callsOfProviderMax: number
  readonly #nowMs = (): number => performance.now()
  readonly #pause = new PauseAfterFailure()
  /** Calls about each wallet in its current window, with the credits granted until its start. Oldest window first. */
  readonly #callsByWallet = new Map<string, WalletCalls>()
  #calls = 0
  readonly #callsOfProvider = new Map<string, number>()

  constructor(
    callControlPlane: CallControlPlane,
    refusals: Map<string, number>,
    limits: RechargeLimits,
  ) {
    this.#callControlPlane = callControlPlane
    this.#refusals = refusals
    this.#limits = limits
    this.#callsOfProviderMax = Math.floor(limits.callsMax / sharesOfCalls)
  }

  async begin(wallet: LowWallet, authorization: string): Promise<boolean> {
    const { providerId } = wallet
    const calls = this.#callsOfProvider.get(providerId) ?? 0
    const isBusy = this.#calls >= this.#limits.callsMax || calls >= this.#callsOfProviderMax
    if (isBusy || this.#pause.isOn) return false
    const walletCalls = this.#callsOf(wallet)
    if (walletCalls.callsLeft === 0) return false
    walletCalls.callsLeft -= 1
    this.#calls += 1
    this.#callsOfProvider.set(providerId, calls + 1)
    const call = this.#requestCharge(wallet, walletCalls, authorization).finally(() =>
      this.#leave(providerId),
    )
    return await Promise.race([call, sleep(this.#limits.waitMs, false, { ref: false })])
  }

  #leave(providerId: string): void {
    this.#calls -= 1
    const calls = this.#callsOfProvider.get(providerId)! - 1
    if (calls === 0) this.#callsOfProvider.delete(providerId)
    else this.#callsOfProvider.set(providerId, calls)
  }

  async #requestCharge(
    { customerRef }: LowWallet,
    walletCalls: WalletCalls,
    authorization: string,
  ): Promise<boolean> {
    try {
      const body = JSON.stringify({ customerRef })
      const answer = await this.#callControlPlane(rechargeBeginningsPath, authorization, body)
      if (answer.status >= 500) throw new Error(`answered ${answer.status}`)
      // An older control plane returns no reason.
      const { triggered, reason = 'enough' } =
        answer.status === 200
          ? rechargeBegunSchema.parse(JSON.parse(answer.body))
          : { triggered: false, reason: `status_${answer.status}` }
      if (!triggered) this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1)
      if (triggered || !passingReasons.has(reason)) {
        walletCalls.callsLeft = 0
        walletCalls.untilMs = this.#nowMs() + this.#limits.pauseMs
      }
      return triggered
    } catch {
      // Nothing is lost: the payment job checks the wallet once the debit is posted.
      this.#pause.begin()
      return false
    }
  }

  /** Returns the calls about the wallet in its current window. Starts a window if there is none. */
  #callsOf({ environment, providerId, customerRef, recharge }: LowWallet): WalletCalls {
    const { grantedMicros } = recharge
    const key = `${environment}:${providerId.length}:${providerId}${customerRef}`
    const before = this.#callsByWallet.get(key)
    if (before?.grantedMicros === grantedMicros && before.untilMs > this.#nowMs()) return before
    this.#callsByWallet.delete(key)
    if (this.#callsByWallet.size >= walletsMax) {
      for (const oldest of this.#callsByWallet.keys()) {
        this.#callsByWallet.delete(oldest)
        break
      }
    }
    const untilMs = this.#nowMs() + windowMs
    const walletCalls = { grantedMicros, untilMs, callsLeft: callsOfWalletMax }
    this.#callsByWallet.set(key, walletCalls)
    return walletCalls
  }
}
