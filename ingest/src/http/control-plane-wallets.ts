import type { DueDebit, TakenCredits } from '@tollgate/domain/wallet/take-credits'
import {
  creditHoldsPath,
  creditHoldsResponseSchema,
  type CreditHoldsInput,
} from '@tollgate/schemas/http/credits'
import type { AskControlPlane } from '../domain/limit-checker.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Wallets } from '../domain/wallets.ts'

/** Lets the control plane take the credits, where this process must not write to the hot state (decision 14). */
export class ControlPlaneWallets implements Wallets {
  readonly #ask: AskControlPlane

  constructor(ask: AskControlPlane) {
    this.#ask = ask
  }

  async take(authorization: string, due: readonly DueDebit[]): Promise<TakenCredits[]> {
    const holds: CreditHoldsInput = {
      holds: due.map(({ customerRef, usageRef, dueMicros }) => {
        return { customerRef, usageRef, dueMicros: dueMicros.toString() }
      }),
    }
    const { status, body } = await this.#ask(creditHoldsPath, authorization, JSON.stringify(holds))
    if (status !== 200) throw new UnavailableError('No wallet can pay now, try again')
    const { taken } = creditHoldsResponseSchema.parse(JSON.parse(body))
    return taken.map(({ takenMicros, leftMicros }) => {
      return { takenMicros: BigInt(takenMicros), leftMicros: BigInt(leftMicros) }
    })
  }
}
