import type { ServiceKeyHolder } from '@tollgate/domain/api-keys/service-key'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Records } from '../records/open-records.ts'
import type { AllCustomerCalls } from './customer-calls.ts'
import type { CallEnd, GatedCall } from './gate.ts'
import type { GateLimits } from './gate-settings.ts'
import type { KeyUses } from './key-uses.ts'
import { endOf, recordOf } from './record-of-call.ts'

/** Gives back what is held. Resolves once ingest has answered, or has not in time. */
export type Release = (holder: ServiceKeyHolder, reservationId: string) => Promise<unknown>

export type RunningCallParts = {
  readonly records: Records
  readonly calls: AllCustomerCalls
  readonly keyUses: KeyUses
  readonly limits: GateLimits
  readonly release: Release
  readonly logger: Logger
}

/** A call that was admitted and has not ended: room in the journal is kept for it, and perhaps a unit of its customer. */
export class RunningCall {
  readonly #parts: RunningCallParts
  readonly #call: GatedCall
  readonly #acceptedAtMs: number
  readonly #reservationId: string | undefined
  #isSettled = false

  constructor(
    parts: RunningCallParts,
    call: GatedCall,
    acceptedAtMs: number,
    reservationId: string | undefined,
  ) {
    this.#parts = parts
    this.#call = call
    this.#acceptedAtMs = acceptedAtMs
    this.#reservationId = reservationId
  }

  /** The first end counts. Never throws: the answer must go out whatever happens here. */
  settle(end: CallEnd): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const { records, logger } = this.#parts
    try {
      if (end.outcome === 'interim') this.#withdraw()
      else this.#record(end)
    } catch (error) {
      logger.error({ err: error, callId: this.#call.callId }, 'a call is not recorded')
    }
    records.endPromise()
  }

  #record(given: CallEnd): void {
    const { records, calls, limits, keyUses } = this.#parts
    const { server, toolName } = this.#call
    const policy = server.tools.get(toolName)?.cancelledCalls ?? limits.cancelledCalls
    const end = endOf(given, policy)
    const record = recordOf(
      this.#call,
      this.#acceptedAtMs,
      end,
      this.#reservationId,
      limits.clientKeys,
    )
    const isCounted = end.outcome === 'success' && this.#reservationId === undefined
    const customerCalls = calls.of(placeOf(this.#call))
    if (isCounted) customerCalls.journal()
    const isKeyed = end.outcome === 'success' && record.idempotencyKey !== record.callId
    records.append(isKeyed ? keyUses.use(record) : record)
    if (end.outcome !== 'success') this.#withdraw()
  }

  /** The call counts for nobody: what it holds must not keep a unit from the next call. */
  #withdraw(): void {
    const { calls, release } = this.#parts
    const place = placeOf(this.#call)
    if (this.#reservationId === undefined) calls.of(place).withdraw()
    else calls.of(place).release(release(place, this.#reservationId))
  }
}

/**
 * Withdraws calls that nobody can settle any more, because what served them failed. Otherwise each would take its room in the
 * journal for as long as the process lives.
 */
export const abandoned = new FinalizationRegistry<RunningCall>((call) => {
  call.settle({ outcome: 'interim', durationMs: 0 })
})

export function placeOf({ server, customerRef }: GatedCall) {
  const { environment, providerId, productRef } = server
  return { environment, providerId, customerRef, productRef }
}
