import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { decodeTraces, type CollectedSpan } from './decode-traces.ts'

export type { CollectedSpan }

/** Receives spans over OTLP/HTTP, as an OpenTelemetry collector does. */
export type TraceCollector = {
  /** URL for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string
  spans(): readonly CollectedSpan[]
  /** Resolves once the received spans satisfy `isEnough`. */
  until(isEnough: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]>
  stop(): Promise<void>
}

const patienceMs = 20_000
const lookAgainMs = 25

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const isTraces = request.method === 'POST' && request.url === '/v1/traces'
      if (isTraces) spans.push(...decodeTraces(body))
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    async until(isEnough) {
      const deadlineMs = performance.now() + patienceMs
      while (!isEnough(spans)) {
        if (performance.now() > deadlineMs) {
          const seen = spans.map(({ service, name }) => `${service}: ${name}`)
          throw new Error(`These spans alone have come:\n${seen.join('\n')}`)
        }
        await sleep(lookAgainMs)
      }
      return spans
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}
