import type { DueDebit, HeldUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import {
  creditHoldsPath,
  creditHoldsResponseSchema,
  type CreditHoldsInput,
} from '@tollgate/schemas/http/credits'
import type { CallControlPlane } from '../domain/call-control-plane.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Wallets } from '../domain/wallets.ts'

/**
 * Holds credits through the control plane, for a hot state that ingest must not write to (see docs/decisions/reservations.md, On one
 * machine the control plane reserves).
 */
export class ControlPlaneWallets implements Wallets {
  readonly #callControlPlane: CallControlPlane
  readonly #authorization: string

  /** `folderSecret` is the secret of the data folder that both processes share. */
  constructor(callControlPlane: CallControlPlane, folderSecret: string) {
    this.#callControlPlane = callControlPlane
    this.#authorization = `Bearer ${folderSecret}`
  }

  async hold(due: readonly DueDebit[]): Promise<HeldUsageCredits[]> {
    const [first] = due
    if (first === undefined) return []
    const { environment, providerId } = first
    const holds = due.map(({ customerRef, usageRef, dueMicros, isKeyed, reservationId = null }) => {
      return { customerRef, usageRef, dueMicros: dueMicros.toString(), isKeyed, reservationId }
    })
    const input: CreditHoldsInput = { environment, providerId, holds }
    const answer = await this.#callControlPlane(
      creditHoldsPath,
      this.#authorization,
      JSON.stringify(input),
    )
    if (answer.status !== 200) throw new UnavailableError('No wallet can pay now, try again')
    const { taken } = creditHoldsResponseSchema.parse(JSON.parse(answer.body))
    return taken.map(({ takenMicros, leftMicros, recharge }) => ({
      heldMicros: BigInt(takenMicros),
      leftMicros: BigInt(leftMicros),
      recharge: recharge && {
        belowMicros: BigInt(recharge.belowMicros),
        grantedMicros: BigInt(recharge.grantedMicros),
      },
    }))
  }
}
