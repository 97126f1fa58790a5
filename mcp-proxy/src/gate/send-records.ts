import { bulkRecordsMax } from '@tollgate/schemas/limits'
import { usageOf, type CallRecord } from '../records/call-record.ts'
import type { Sent } from '../records/lane.ts'
import { messageOf, type ServiceCalls } from '../services/service-calls.ts'

const bulkPath = '/v1/sdk/usages/bulk'

/** A request that timed out may have been recorded. Sending it again is safe, because ingest deduplicates by idempotency key. */
const timeoutMs = 30_000

/** Returns a function that sends records of one provider and environment to ingest. Ingest records all of them or none. */
export function createSendRecords(
  ingest: ServiceCalls,
): (records: readonly CallRecord[]) => Promise<Sent> {
  return async (records) => {
    const [first] = records
    if (first === undefined || records.length > bulkRecordsMax) {
      throw new Error(`${records.length} records cannot be sent at once`)
    }
    const events = records.map(usageOf)
    const reply = await ingest.post(bulkPath, first, { events }, timeoutMs)
    if (reply.kind === 'failed') {
      return { kind: 'failed', message: reply.message, mayBeRecorded: true }
    }
    const { status } = reply
    if (status === 200) return { kind: 'accepted', known: knownUses(records, reply.body) }
    const message = messageOf(reply)
    if (status === 401 || status === 403) return { kind: 'forbidden', message }
    if (status === 400 || status === 413 || status === 422) return { kind: 'refused', message }
    return { kind: 'failed', message, mayBeRecorded: !wasNotProcessed(reply.body) }
  }
}

/**
 * Returns whether ingest certainly recorded none of the request. It answers `overloaded` before it processes a request. After any
 * other error, the event log may still have the records.
 */
function wasNotProcessed(body: unknown): boolean {
  const { code } = (body ?? {}) as { code?: unknown }
  return code === 'overloaded'
}

type Results = { readonly results?: readonly { readonly creditDebit?: { reason?: unknown } }[] }

/** Returns the records with a client key that ingest reported as duplicates. */
function knownUses(records: readonly CallRecord[], body: unknown): ReadonlySet<CallRecord> {
  const { results } = (body ?? {}) as Results
  const isKnown = ({ use }: CallRecord, index: number): boolean =>
    use !== undefined && results?.[index]?.creditDebit?.reason === 'duplicate'
  return new Set(records.filter(isKnown))
}
