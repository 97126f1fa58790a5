import { Recent } from '@tollgate/platform/memory/recent'
import type { CallRecord } from '../records/call-record.ts'

const rememberedMax = 100_000

/**
 * Numbers the uses of a client's idempotency key by successful calls. The MCP server worked for each of them. The first use costs
 * as much as any call. The next `repeatsMax` uses are free, because answers get lost. Every further use costs as much as the first.
 *
 * Each number has its own idempotency key, which ingest accepts once from all processes. This process starts with the number after
 * the last one that it knows. If ingest already knows that key, another process has used the number, and the next one is tried.
 */
export class KeyUses {
  readonly #repeatsMax: number
  /** The next number for each client key. */
  readonly #next = new Recent<number>(rememberedMax)

  constructor(repeatsMax: number) {
    this.#repeatsMax = repeatsMax
  }

  /** Returns the record of a call, numbered as the next use of its key. */
  use(record: CallRecord): CallRecord {
    return this.#numbered(record, record.idempotencyKey, 0)
  }

  /** Returns the record with the next number, because another process has already used its current one. */
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
