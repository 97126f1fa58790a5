import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/* An MCP server with minimal cost. It answers every request of the stateless protocol with the same result. */

type Request = { readonly id?: number | string; readonly method?: string }

const tool = { name: 'measured', description: 'Answers at once', inputSchema: { type: 'object' } }

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Request
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method) })
    const length = Buffer.byteLength(body)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
    response.end(body)
  })
})
server.keepAliveTimeout = 120_000

function resultOf(method: string | undefined): object {
  const cached = { ttlMs: 60_000, cacheScope: 'public' }
  switch (method) {
    case 'server/discover':
      return {
        ...{ resultType: 'complete', ...cached, supportedVersions: ['2026-07-28'] },
        ...{ capabilities: { tools: {} }, serverInfo: { name: 'measured', version: '1' } },
      }
    case 'tools/list':
      return { resultType: 'complete', ...cached, tools: [tool] }
    default:
      return { resultType: 'complete', content: [{ type: 'text', text: 'x'.repeat(200) }] }
  }
}

server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit(0))
