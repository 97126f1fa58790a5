import type { ServerResponse } from 'node:http'

/** Ways in which the origin fails to answer a call. */
export const faults = ['ends', 'resets', 'refuses', 'fails', 'sends no JSON'] as const

export type Fault = (typeof faults)[number]

/** The tool whose calls are answered before the SDK processes them. Its argument `how` selects the fault. */
export const faultyTool = 'test_faulty_response'

const progress = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'The answer will not come.' },
}

export function sendFault(how: Fault, response: ServerResponse): void {
  if (how === 'refuses') response.writeHead(401).end()
  else if (how === 'fails') response.writeHead(500).end('Internal error')
  else if (how === 'sends no JSON') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('<html></html>')
  } else {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`event: message\ndata: ${JSON.stringify(progress)}\n\n`, () => {
      if (how === 'ends') response.end()
      else response.destroy()
    })
  }
}

/** Returns the requested fault, or undefined if the message is not a call of the faulty tool. */
export function findFault(body: unknown): Fault | undefined {
  const { method, params } = (body ?? {}) as {
    method?: string
    params?: { name?: string; arguments?: { how?: string } }
  }
  if (method !== 'tools/call' || params?.name !== faultyTool) return undefined
  return faults.find((fault) => fault === params.arguments?.how)
}
