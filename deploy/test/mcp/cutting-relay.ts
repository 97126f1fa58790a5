import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * Forwards connections to a port, and cuts some of them after the answer has begun, so that the sender does not know the outcome.
 */
export type CuttingRelay = {
  readonly port: number
  readonly cutCount: () => number
  stop(): Promise<void>
}

export async function startCuttingRelay(
  portOf: () => number,
  cuts: () => boolean,
): Promise<CuttingRelay> {
  const sockets = new Set<Socket>()
  let cutCount = 0
  const server = createServer((client) => {
    const upstream = connect(portOf(), '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (!cuts()) {
        client.write(chunk)
        return
      }
      cutCount++
      client.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutCount: () => cutCount,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
