import { usagesBulkSchema } from '@tollgate/schemas/http/usages'
import uWS, { type HttpResponse } from 'uWebSockets.js'

const acceptedAnswer = JSON.stringify({
  success: true,
  reference: 'usage_00000000000000000000000000',
  creditDebit: { debited: false, reason: 'no_active_purchase' },
})

/**
 * Starts a server that shows the maximum rate of this machine. It uses the same server library and stores nothing. `/nothing` reads
 * the body and replies. `/validate` also parses and validates the body.
 */
export function startCeilingServer(port: number): Promise<void> {
  const app = uWS.App()
  app.post('/nothing', (response) => collect(response, () => acceptedAnswer))
  app.post('/validate', (response) =>
    collect(response, (body) => {
      const { events = [] } = usagesBulkSchema.parse(JSON.parse(body.toString('utf8')))
      return JSON.stringify({ success: true, inserted: events.length })
    }),
  )
  return new Promise((resolve, reject) => {
    app.listen('127.0.0.1', port, (socket) => {
      if (socket) resolve()
      else reject(new Error(`Cannot listen on port ${port}`))
    })
  })
}

function collect(response: HttpResponse, answer: (body: Buffer) => string): void {
  const chunks: Buffer[] = []
  let isAborted = false
  response.onAborted(() => (isAborted = true))
  response.onData((chunk, isLast) => {
    // Copy the chunk, because its memory is invalid after this call.
    chunks.push(Buffer.concat([new Uint8Array(chunk)]))
    if (!isLast || isAborted) return
    const text = answer(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    response.cork(() => {
      response.writeHeader('content-type', 'application/json').end(text)
    })
  })
}
