import { once } from 'node:events'
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net'
import type { Closable } from '@tollgate/platform/service/open-owned'

export type SharedPort = Closable & { readonly port: number }

/**
 * Reserves a port that several processes will listen on, and returns it. Rejects if any other process listens on it.
 *
 * The system lets every process of this user join a shared port, so two installations that are given the same port by mistake would
 * each receive some of the requests. Listening alone for a moment finds every other listener. Two parents that start at the same
 * moment could both find none, so each first takes a name that only one process can have and that the system frees with its process:
 * an abstract socket, whose name is unique in the network namespace, like the port.
 */
export async function reserveSharedPort(host: string, port: number): Promise<SharedPort> {
  const found = await listenAlone(host, port)
  const holder = createServer((socket) => socket.destroy())
  try {
    const address = `${host}:${found}`
    await listen(holder, { path: `\0tollgate-ingest ${address}` }, address)
    // Another parent may have had the name until now, with workers that still listen.
    await listenAlone(host, found)
  } catch (error) {
    holder.close()
    throw error
  }
  return { port: found, close: () => close(holder) }
}

/** Returns the port, which is another one than the given one only if that is 0. Nobody listens on it when this resolves. */
async function listenAlone(host: string, port: number): Promise<number> {
  const server = createServer()
  await listen(server, { host, port, exclusive: true }, `${host}:${port}`)
  const { port: found } = server.address() as AddressInfo
  await close(server)
  return found
}

/** `shown` names the port in the error if it is in use. */
async function listen(server: Server, address: ListenOptions, shown: string): Promise<void> {
  try {
    await once(server.listen(address), 'listening')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    throw new Error(
      `Cannot listen on ${shown}: the port is in use. Stop the program that uses it, or choose another port with TOLLGATE_PORT.`,
      { cause },
    )
  }
}

async function close(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}
