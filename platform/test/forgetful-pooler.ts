import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * A proxy between clients and PostgreSQL that acts like PgBouncer with `ignore_startup_parameters = role`: connections are opened
 * without the requested role.
 */
export async function startForgetfulPooler(
  url: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    // The driver sends its first message in one piece, and nothing else before the answer.
    client.once('data', (message) => {
      upstream.write(withoutRole(message))
      client.pipe(upstream)
    })
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = new URL(url)
  address.hostname = '127.0.0.1'
  address.port = String((server.address() as AddressInfo).port)
  return {
    url: address.href,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Removes the role from the startup message: its length, the protocol version, then names and values, each with a final zero. */
function withoutRole(message: Buffer): Buffer {
  const texts = message.subarray(8).toString('latin1').split('\0')
  const at = texts.findIndex((text, index) => index % 2 === 0 && text === 'role')
  if (at < 0) throw new Error('a client did not ask for a role')
  const parameters = Buffer.from(texts.toSpliced(at, 2).join('\0'), 'latin1')
  const changed = Buffer.concat([message.subarray(0, 8), parameters])
  changed.writeInt32BE(changed.length, 0)
  return changed
}
