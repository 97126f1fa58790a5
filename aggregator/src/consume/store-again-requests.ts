import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import {
  readStoreAgainRequest,
  storeAgainKey,
  writeStoreAgainRequest,
  type StoreAgainRequest,
} from '@tollgate/schemas/hot-state/store-again-requests'
import { moveBackIn, readSinkNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { compareStored } from './compare-stored.ts'
import { tryReadRange } from './read-range.ts'
import type { SinkParts } from './sink-parts.ts'

export type StoreAgainParts = SinkParts & {
  /** Milliseconds between two checks for a request. */
  readonly repairRequestsIntervalMs: number
}

type RequestStep = {
  readonly kind: 'nothing' | 'compared' | 'moved back'
  readonly position: GroupPosition
}

/**
 * Compares the whole log with ClickHouse on request (`tollgate usage restore --from log`), one range per step, between two batches.
 * The progress is stored in the request, so another process can continue from there.
 *
 *  1. Ranges are compared forwards from the oldest record of the log. A complete range is skipped.
 *  2. At the first incomplete range, the position moves back to it in one commit. From there, every batch is compared and stored
 *     again if necessary, up to the previous position.
 *  3. The request is deleted when the position has reached its end. After a crash before that, the next process finds the request
 *     with a position that is past its end or still before it.
 */
export class StoreAgainRequests {
  readonly #parts: StoreAgainParts
  readonly #logger: Logger
  #checkedAtMs = -Infinity
  #isRequested = false

  constructor(parts: StoreAgainParts, logger: Logger) {
    this.#parts = parts
    this.#logger = logger
  }

  async step(position: GroupPosition): Promise<RequestStep> {
    const note = readSinkNote(position.note)
    const nothing: RequestStep = { kind: 'nothing', position }
    // The open batch is stored first.
    if (note?.state === 'open') return nothing
    const request = await this.#readRequest()
    if (request === undefined) return nothing
    const endOffset = request.endOffset ?? position.offset
    const oldest = await this.#parts.log.oldest(this.#parts.topic, this.#parts.partition)
    const fromOffset = Math.max(request.comparedTo ?? 0, oldest)
    if (fromOffset >= endOffset) {
      // The request stays while records up to its end are being stored again.
      if (position.offset >= endOffset && note?.storeAgainTo === undefined)
        await this.#done(endOffset)
      return nothing
    }
    return await this.#compare(position, { ...request, endOffset }, fromOffset, endOffset)
  }

  async #compare(
    position: GroupPosition,
    request: StoreAgainRequest,
    fromOffset: number,
    endOffset: number,
  ): Promise<RequestStep> {
    const parts = this.#parts
    const toOffset = Math.min(endOffset, fromOffset + parts.readLimits.recordsMax)
    const range = await tryReadRange(parts, fromOffset, toOffset)
    const comparison = range && (await compareStored(parts, range, endOffset))
    if (comparison !== 'incomplete') {
      await this.#write({ ...request, comparedTo: toOffset })
      return { kind: 'compared', position }
    }
    const next = await this.#moveBack(position, fromOffset, endOffset)
    // Every batch up to the end is compared when it is stored.
    await this.#write({ ...request, comparedTo: endOffset })
    return { kind: 'moved back', position: next }
  }

  async #moveBack(
    position: GroupPosition,
    fromOffset: number,
    endOffset: number,
  ): Promise<GroupPosition> {
    const { log, topic, partition } = this.#parts
    const note = readSinkNote(position.note)
    if (note === undefined || position.offset <= fromOffset) return position
    this.#logger.warn(
      { fromOffset, endOffset },
      'ClickHouse lacks records of the log: they are stored again',
    )
    const next = { offset: fromOffset, note: writeSinkNote(moveBackIn(note, position.offset)) }
    await log.commit(sinkGroup, topic, partition, position, next)
    return next
  }

  async #readRequest(): Promise<StoreAgainRequest | undefined> {
    const nowMs = performance.now()
    const { repairRequestsIntervalMs } = this.#parts
    if (!this.#isRequested && nowMs - this.#checkedAtMs < repairRequestsIntervalMs) return undefined
    this.#checkedAtMs = nowMs
    const document = await this.#parts.hotState.readDocument(this.#key())
    this.#isRequested = document !== undefined
    return document === undefined ? undefined : readStoreAgainRequest(document)
  }

  async #write(request: StoreAgainRequest): Promise<void> {
    await this.#parts.hotState.putDocument(this.#key(), writeStoreAgainRequest(request))
  }

  async #done(endOffset: number): Promise<void> {
    await this.#parts.hotState.deleteDocument(this.#key())
    this.#isRequested = false
    this.#logger.info({ endOffset }, 'ClickHouse has all records of the log up to this offset')
  }

  #key(): string {
    return storeAgainKey(this.#parts.environment, this.#parts.partition)
  }
}
