import type { SeededRandom } from '../../client/seeded-random.ts'

export type AbortRequest = {
  readonly bytes: Buffer
  /** Offset of the body. */
  readonly bodyOffset: number
  /** Offset after which the request may count as complete. In a chunked body, the line after the last chunk may be missing. */
  readonly completeOffset: number
  /** Idempotency keys of the records in the request. Empty for requests that record nothing. */
  readonly recordKeys: readonly string[]
}

export const abortCustomers = Array.from({ length: 16 }, (_, number) => `abort_${number}`)

/** Numbers of records, so that bodies fit one packet, several packets, or exceed the buffer of a socket. */
const bulkSizes = [2, 3, 5, 40] as const
const bulkRate = 0.25
const largeBulkSize = 500
const largeBulkRate = 0.01
const chunkedRate = 0.2
/** Fraction of bulks with one invalid record, so that no record of the bulk may be stored. */
const refusedRate = 0.1
const otherCallRate = 0.3
const otherCalls = [
  ['POST', '/v1/sdk/limits', '{"customerRef":"abort_0","productRef":"prd_ABORT"}'],
  ['POST', '/v1/sdk/user-info', '{"customerRef":"abort_0","productRef":"prd_ABORT"}'],
  ['GET', '/v1/sdk/products?limit=100', ''],
  ['GET', '/v1/openapi.json', ''],
  ['GET', '/v1/ui/meters', ''],
] as const

export function customerOf(recordKey: string): string {
  const number = Number(recordKey.slice(recordKey.lastIndexOf(':') + 1))
  return abortCustomers[number % abortCustomers.length]!
}

/** Returns one valid request. */
export function nextAbortRequest(
  random: SeededRandom,
  key: string,
  nextRecordKey: () => string,
): AbortRequest {
  if (random.chance(otherCallRate)) {
    const [method, path, body] = random.pick(otherCalls)
    return framed(key, method, path, Buffer.from(body), [], false)
  }
  const size = recordCount(random)
  const recordKeys = Array.from({ length: size }, nextRecordKey)
  const records = recordKeys.map((idempotencyKey) => ({
    customerRef: customerOf(idempotencyKey),
    idempotencyKey,
    units: 1,
  }))
  if (random.chance(refusedRate)) records.at(-1)!.units = -1
  const body = size > 1 ? { events: records } : records[0]
  const path = size > 1 ? '/v1/sdk/usages/bulk' : '/v1/sdk/usages'
  const bytes = Buffer.from(JSON.stringify(body))
  return framed(key, 'POST', path, bytes, recordKeys, random.chance(chunkedRate))
}

function recordCount(random: SeededRandom): number {
  if (random.chance(largeBulkRate)) return largeBulkSize
  return random.chance(bulkRate) ? random.pick(bulkSizes) : 1
}

function framed(
  key: string,
  method: string,
  path: string,
  body: Buffer,
  recordKeys: readonly string[],
  isChunked: boolean,
): AbortRequest {
  const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
  const head = Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\n${framing}\r\n\r\n`,
  )
  const sent = isChunked ? chunked(body) : body
  const bytes = Buffer.concat([head, sent])
  const completeOffset = isChunked ? bytes.length - '\r\n'.length : bytes.length
  return { bytes, bodyOffset: head.length, completeOffset, recordKeys }
}

function chunked(body: Buffer): Buffer {
  const half = body.length >> 1
  const chunks = [body.subarray(0, half), body.subarray(half)].flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}
