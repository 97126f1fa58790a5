import { request } from 'undici'
import { serviceKeyOf } from '@tollgate/domain/api-keys/service-key'
import type { Environment } from '@tollgate/schemas/environment'
import {
  appendCorrectionsPath,
  type CorrectionRecord,
} from '@tollgate/schemas/http/usage-corrections'

/** Appends the records of a correction to the log. Resolves once all are durable; a repeated call appends none twice. */
export type AppendRecords = (
  holder: { readonly environment: Environment; readonly providerId: string },
  records: readonly CorrectionRecord[],
) => Promise<void>

/** Thrown if ingest cannot append the records now. Some of them may be in the log. */
export class AppendUnavailableError extends Error {
  override readonly name = 'AppendUnavailableError'
}

/** Bytes of one request, well below the limit of ingest. A single record has at most about 20,000. */
const requestBytesMax = 256 * 1024

/** A request that takes longer is repeated, which is harmless. */
const timeoutMs = 10_000

/** Returns a function that sends the records to ingest, the only writer of the log. */
export function createAppendRecords(
  ingestUrl: string,
  serviceSecret: string | undefined,
): AppendRecords {
  return async (holder, records) => {
    if (serviceSecret === undefined) {
      throw new AppendUnavailableError(
        'TOLLGATE_SERVICE_SECRET is not set. Set it in the control plane and in ingest',
      )
    }
    const authorization = `Bearer ${serviceKeyOf(serviceSecret, holder)}`
    for (const body of requestBodies(records)) await send(ingestUrl, authorization, body)
  }
}

async function send(ingestUrl: string, authorization: string, body: string): Promise<void> {
  const { statusCode, text } = await post(
    new URL(appendCorrectionsPath, ingestUrl),
    authorization,
    body,
  ).catch((cause: unknown) => {
    throw new AppendUnavailableError('Ingest does not answer', { cause })
  })
  if (statusCode !== 200) {
    throw new AppendUnavailableError(`Ingest answered ${statusCode}: ${text.slice(0, 500)}`)
  }
}

async function post(
  url: URL,
  authorization: string,
  body: string,
): Promise<{ readonly statusCode: number; readonly text: string }> {
  const response = await request(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { statusCode: response.statusCode, text: await response.body.text() }
}

/** Returns the bodies of requests with these records, in their order. */
function requestBodies(records: readonly CorrectionRecord[]): string[] {
  const bodies: string[] = []
  let texts: string[] = []
  let bytes = 0
  const close = (): void => {
    if (texts.length > 0) bodies.push(`{"records":[${texts.join(',')}]}`)
    texts = []
    bytes = 0
  }
  for (const record of records) {
    const text = JSON.stringify(record)
    const size = Buffer.byteLength(text)
    if (bytes + size > requestBytesMax) close()
    texts.push(text)
    bytes += size
  }
  close()
  return bodies
}
