import { request as sendRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CorpusAnswer, CorpusRequest } from './exchange.ts'
import { Masks } from './masks.ts'

/** Headers that are part of the interface. Others name the connection, the time or the request. */
const recordedHeaders = [
  'content-type',
  'content-disposition',
  'allow',
  'cache-control',
  'location',
  'tollgate-warnings',
  'tollgate-replayed',
  'www-authenticate',
]

const answerBytesMax = 16 * 1_048_576
const timeoutMs = 60_000

/** Ingest applies a change of a meter at most a second later. */
const meterChangeMs = 1_100

export type Player = {
  /** Sends the request, one at a time, and returns the answer with masks. */
  play(request: CorpusRequest): Promise<CorpusAnswer>
}

/** Plays requests to an installation. `key` is the secret key of a provider without any objects. */
export function createPlayer(options: { readonly baseUrl: string; readonly key: string }): Player {
  const { hostname: host, port } = new URL(options.baseUrl)
  const masks = new Masks()
  let played = 0

  return {
    async play(request) {
      const nowMs = Date.now()
      const fill = (text: string): string => masks.fill(text, nowMs)
      const payload = request.body === undefined ? undefined : Buffer.from(fill(request.body))
      const given = Object.entries(request.headers ?? {}).map(([name, value]) => [
        name,
        fill(value),
      ])
      const headers: Record<string, string | number> = {
        authorization: `Bearer ${options.key}`,
        ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
        ...(Object.fromEntries(given) as Record<string, string>),
      }
      const { method, path } = request
      const answer = await send(
        { agent: false, host, port, method, path: fill(path), headers },
        payload,
      )
      if (method === 'PATCH' && path.startsWith('/v1/ui/meters/')) await sleep(meterChangeMs)
      const exchange = played
      played += 1
      return {
        status: answer.status,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [
            name,
            masks.hide(value, exchange),
          ]),
        ),
        body: masks.hide(answer.body, exchange),
      }
    },
  }
}

/** Each request has its own connection: a service closes one after a malformed request, which would race with the next request. */
function send(options: object, payload: Buffer | undefined): Promise<CorpusAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest(options, (incoming) => {
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > answerBytesMax) incoming.destroy(new Error('The answer is too large'))
      })
      incoming.on('error', reject)
      incoming.on('end', () => {
        const { headers, statusCode = 0 } = incoming
        const names = recordedHeaders.filter((name) => headers[name] !== undefined)
        resolve({
          status: statusCode,
          headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
          body: textOf(Buffer.concat(chunks), String(headers['content-type'] ?? '')),
        })
      })
    })
    outgoing.setTimeout(timeoutMs, () =>
      outgoing.destroy(new Error(`No answer within ${timeoutMs} ms`)),
    )
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}

/** A document such as a PDF contains times in a form of its own, so only its presence is recorded. */
function textOf(body: Buffer, contentType: string): string {
  if (body.length === 0 || /json|text/.test(contentType)) return body.toString()
  return `(${contentType})`
}
