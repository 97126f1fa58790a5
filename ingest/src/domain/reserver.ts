import type { LimitsRequest } from '@tollgate/schemas/http/limits'
import type { KeyHolder } from './key-holder.ts'
import type { LimitDecision } from './limit-checker.ts'

export type ReserveRequest = LimitsRequest & {
  readonly reserve: NonNullable<LimitsRequest['reserve']>
}

/** Reserves units of a customer's cap. Fails with UnavailableError when that cannot be done exactly now. */
export interface Reserver {
  /** 'unknown' also where this process cannot reserve: the control plane can. */
  reserve(holder: KeyHolder, request: ReserveRequest): Promise<LimitDecision>
  /** Whether the reservation was held until now. */
  release(holder: KeyHolder, reservationId: string): Promise<boolean | 'unknown'>
}
