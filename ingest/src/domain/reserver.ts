import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import type { KeyHolder } from './key-holder.ts'
import type { LimitDecision } from './limit-checker.ts'

export type ReserveRequest = LimitsRequest & {
  readonly reserve: NonNullable<LimitsRequest['reserve']>
}

/** Reserves units of a customer's cap. Fails with UnavailableError if that is not possible exactly now. */
export interface Reserver {
  /** Resolves with 'unknown' also if this process cannot reserve. The control plane can. */
  reserve(holder: KeyHolder, request: ReserveRequest): Promise<LimitDecision>
  /** Resolves with whether the reservation was held until now. */
  release(holder: KeyHolder, reservationId: string): Promise<boolean | 'unknown'>
}
