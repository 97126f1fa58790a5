import { setTimeout as sleep } from 'node:timers/promises'
import { rechargeBeginningsPath, rechargeBegunSchema } from '@tollgate/schemas/http/auto-recharge'
import type { AskControlPlane } from '../domain/ask-control-plane.ts'
import { PauseAfterFailure } from '../domain/pause-after-failure.ts'
import type { LowWallet, Recharges } from '../domain/recharges.ts'

export type RechargeLimits = {
  /** Calls at a time. The payment job takes care of wallets that find none free. */
  readonly callsMax: number
  /** How long an answer to usage waits. The payment job begins the charge of a call that takes longer and then fails. */
  readonly waitMs: number
  /** How long a wallet is left alone that cannot be charged, or whose charge is under way. */
  readonly pauseMs: number
}

/** One provider's wallets have at most this share of the calls, so that a slow answer to them does not stop all others. */
const sharesOfCalls = 4

/**
 * Calls about one wallet in that time, unless something was put into it. The first debit below the threshold may be refused
 * because the counters do not have the debits before it yet.
 */
const windowMs = 30_000
const callsOfWalletMax = 20
const walletsMax = 10_000

/**
 * Reasons that the next debit may change, or the next key: a refusal of the key says nothing of the wallet. All others last:
 * a charge that is under way ends with credits or a decline.
 */
const passingReasons: ReadonlySet<string> = new Set([
  ...['enough', 'counters_behind'],
  ...['status_401', 'status_403', 'status_429'],
])

type AskedWallet = {
  readonly grantedMicros: bigint
  untilMs: number
  callsLeft: number
}

/** Asks the control plane, which alone decides and begins a charge at most once. */
export class ControlPlaneRecharges implements Recharges {
  readonly #ask: AskControlPlane
  readonly #refusals: Map<string, number>
  readonly #limits: RechargeLimits
  readonly #callsOfProviderMax: number
  readonly #nowMs = (): number => performance.now()
  readonly #pause = new PauseAfterFailure()
  /** Calls about a wallet since a moment, and what had been put into it by then; the oldest first. */
  readonly #asked = new Map<string, AskedWallet>()
  #calls = 0
  readonly #callsOfProvider = new Map<string, number>()

  constructor(ask: AskControlPlane, refusals: Map<string, number>, limits: RechargeLimits) {
    this.#ask = ask
    this.#refusals = refusals
    this.#limits = limits
    this.#callsOfProviderMax = Math.floor(limits.callsMax / sharesOfCalls)
  }

  async begin(wallet: LowWallet, authorization: string): Promise<boolean> {
    const { providerId } = wallet
    const calls = this.#callsOfProvider.get(providerId) ?? 0
    const isBusy = this.#calls >= this.#limits.callsMax || calls >= this.#callsOfProviderMax
    if (isBusy || this.#pause.isOn) return false
    const asked = this.#askedOf(wallet)
    if (asked.callsLeft === 0) return false
    asked.callsLeft -= 1
    this.#calls += 1
    this.#callsOfProvider.set(providerId, calls + 1)
    const call = this.#call(wallet, asked, authorization).finally(() => this.#leave(providerId))
    return await Promise.race([call, sleep(this.#limits.waitMs, false, { ref: false })])
  }

  #leave(providerId: string): void {
    this.#calls -= 1
    const calls = this.#callsOfProvider.get(providerId)! - 1
    if (calls === 0) this.#callsOfProvider.delete(providerId)
    else this.#callsOfProvider.set(providerId, calls)
  }

  async #call(
    { customerRef }: LowWallet,
    asked: AskedWallet,
    authorization: string,
  ): Promise<boolean> {
    try {
      const body = JSON.stringify({ customerRef })
      const answer = await this.#ask(rechargeBeginningsPath, authorization, body)
      if (answer.status >= 500) throw new Error(`answered ${answer.status}`)
      // An older control plane gives no reason.
      const { triggered, reason = 'enough' } =
        answer.status === 200
          ? rechargeBegunSchema.parse(JSON.parse(answer.body))
          : { triggered: false, reason: `status_${answer.status}` }
      if (!triggered) this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + 1)
      if (triggered || !passingReasons.has(reason)) {
        asked.callsLeft = 0
        asked.untilMs = this.#nowMs() + this.#limits.pauseMs
      }
      return triggered
    } catch {
      // Nothing is lost: the payment job looks at the wallet once the debit is posted.
      this.#pause.begin()
      return false
    }
  }

  /** What was asked about the wallet in its current window; begins a window when there is none. */
  #askedOf({ environment, providerId, customerRef, recharge }: LowWallet): AskedWallet {
    const { grantedMicros } = recharge
    const key = `${environment}:${providerId.length}:${providerId}${customerRef}`
    const before = this.#asked.get(key)
    if (before?.grantedMicros === grantedMicros && before.untilMs > this.#nowMs()) return before
    this.#asked.delete(key)
    if (this.#asked.size >= walletsMax) {
      for (const oldest of this.#asked.keys()) {
        this.#asked.delete(oldest)
        break
      }
    }
    const untilMs = this.#nowMs() + windowMs
    const asked = { grantedMicros, untilMs, callsLeft: callsOfWalletMax }
    this.#asked.set(key, asked)
    return asked
  }
}
