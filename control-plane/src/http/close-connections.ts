import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const sweepMs = 100

/**
 * Closes connections while the server stops: at once those that never sent a request, which browsers open ahead, and the others after
 * their last answer. Fastify closes only those that are idle after an answer when the stop begins, and would wait for the rest until
 * the limit of idle connections is over.
 */
export function closeConnectionsAtStop(app: Pick<FastifyInstance, 'addHook' | 'server'>): void {
  const unused = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  app.addHook('preClose', (done) => {
    for (const socket of unused) socket.destroy()
    const sweeper = setInterval(() => app.server.closeIdleConnections(), sweepMs)
    app.server.once('close', () => clearInterval(sweeper))
    done()
  })
}
