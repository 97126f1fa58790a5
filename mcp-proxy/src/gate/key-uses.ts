import { Recent } from '@tollgate/platform/memory/recent'
import type { CallRecord } from '../records/call-record.ts'

const rememberedMax = 100_000

/**
 * Uses of clients' keys for calls that succeeded. Each time the MCP server worked. The first use costs what a call costs, some more
 * are free, for answers that got lost, and every further one costs as much as the first.
 *
 * Uses are numbered, and each number has an idempotency key of its own, which ingest takes once from all processes. This process
 * begins with the number after the last that it knows of. If ingest knows the key of that already, another process has had the use,
 * and the next number is tried.
 */
export class KeyUses {
  readonly #repeatsMax: number
  /** The next number, by the client's key. */
  readonly #next = new Recent<number>(rememberedMax)

  constructor(repeatsMax: number) {
    this.#repeatsMax = repeatsMax
  }

  /** Returns the record of a call as the next use of its key. */
  use(record: CallRecord): CallRecord {
    return this.#numbered(record, record.idempotencyKey, 0)
  }

  /** Returns the record as a later use, since another process has had the one that it names. */
  useNext(record: CallRecord): CallRecord {
    const { key = record.idempotencyKey, number = 0 } = record.use ?? {}
    return this.#numbered(record, key, number + 1)
  }

  #numbered(record: CallRecord, key: string, least: number): CallRecord {
    const number = Math.max(least, this.#next.get(key) ?? 0)
    this.#next.set(key, Math.min(number, this.#repeatsMax) + 1)
    const { use: _use, units: _units, ...call } = record
    if (number > this.#repeatsMax) return { ...call, idempotencyKey: call.callId }
    const use = { key, number }
    if (number === 0) return { ...call, idempotencyKey: key, use }
    return { ...call, idempotencyKey: `${key}-repeat-${number}`, units: 0, use }
  }
}
