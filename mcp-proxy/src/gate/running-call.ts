import type { ServiceKeyHolder } from '@tollgate/domain/api-keys/service-key'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Records } from '../records/open-records.ts'
import type { AllCustomerCalls } from './customer-calls.ts'
import type { CallEnd, GatedCall } from './gate.ts'
import type { GateLimits } from './gate-settings.ts'
import type { KeyUses } from './key-uses.ts'
import { endOf, recordOf } from './record-of-call.ts'

/** Releases a hold. Resolves after ingest has answered or the request has timed out. */
export type Release = (holder: ServiceKeyHolder, reservationId: string) => Promise<unknown>

export type RunningCallParts = {
  readonly records: Records
  readonly calls: AllCustomerCalls
  readonly keyUses: KeyUses
  readonly limits: GateLimits
  readonly release: Release
  readonly logger: Logger
}

/**
 * An admitted call that has not ended. Room in the journal is reserved for its record, and perhaps a unit of its customer is held.
 */
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

  /**
   * Records the end of the call. Calls after the first do nothing. Never throws, because the answer must be sent even if recording
   * fails.
   */
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
    if (end.outcome !== 'success') {
      records.append(record)
      this.#withdraw()
      return
    }
    const isKeyed = record.idempotencyKey !== record.callId
    const used = isKeyed ? keyUses.use(record) : record
    // A call without a hold is counted since it was admitted.
    if (this.#reservationId === undefined) calls.of(placeOf(this.#call)).journal()
    else calls.addJournaled(used)
    records.append(used)
  }

  /** Removes a call that does not count, and releases its hold so that the next call can use the unit. */
  #withdraw(): void {
    const { calls, release } = this.#parts
    const place = placeOf(this.#call)
    if (this.#reservationId === undefined) calls.of(place).withdraw()
    else calls.of(place).release(release(place, this.#reservationId))
  }
}

/**
 * Withdraws calls that can no longer be settled because the code that served them failed. Otherwise each would keep its reserved
 * room in the journal for the lifetime of the process.
 */
export const abandonedEnd = new FinalizationRegistry<RunningCall>((call) => {
  call.settle({ outcome: 'interim', durationMs: 0 })
})

export function placeOf({ server, customerRef }: GatedCall) {
  const { environment, providerId, productRef } = server
  return { environment, providerId, customerRef, productRef }
}
