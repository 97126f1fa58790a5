import type { DueDebit, TakenCredits } from '@tollgate/domain/wallet/take-credits'
import {
  creditHoldsPath,
  creditHoldsResponseSchema,
  type CreditHoldsInput,
} from '@tollgate/schemas/http/credits'
import type { AskControlPlane } from '../domain/limit-checker.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Wallets } from '../domain/wallets.ts'

/**
 * Has the control plane take the credits where this process must not write to hot state (see docs/decisions/reservations.md, On
 * one machine the control plane reserves).
 */
export class ControlPlaneWallets implements Wallets {
  readonly #ask: AskControlPlane
  readonly #authorization: string

  /** With the secret of the data folder that both are on. */
  constructor(ask: AskControlPlane, folderSecret: string) {
    this.#ask = ask
    this.#authorization = `Bearer ${folderSecret}`
  }

  async take(due: readonly DueDebit[]): Promise<TakenCredits[]> {
    const [first] = due
    if (first === undefined) return []
    const { environment, providerId } = first
    const holds = due.map(({ customerRef, usageRef, dueMicros, isKeyed, reservationId = null }) => {
      return { customerRef, usageRef, dueMicros: dueMicros.toString(), isKeyed, reservationId }
    })
    const asked: CreditHoldsInput = { environment, providerId, holds }
    const answer = await this.#ask(creditHoldsPath, this.#authorization, JSON.stringify(asked))
    if (answer.status !== 200) throw new UnavailableError('No wallet can pay now, try again')
    const { taken } = creditHoldsResponseSchema.parse(JSON.parse(answer.body))
    return taken.map(({ takenMicros, leftMicros, recharge }) => ({
      takenMicros: BigInt(takenMicros),
      leftMicros: BigInt(leftMicros),
      recharge: recharge && {
        belowMicros: BigInt(recharge.belowMicros),
        grantedMicros: BigInt(recharge.grantedMicros),
      },
    }))
  }
}
