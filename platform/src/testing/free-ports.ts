import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral ports of the system, so that a free port is not used by an outgoing connection a moment later. */
const lowest = 12_000
const highest = 31_999

/** Returns ports that are currently free, for servers that must know theirs before they start. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    // Random, because other test processes search at the same time.
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1))
    if (!ports.includes(port) && (await isFree(port))) ports.push(port)
  }
  return ports
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  return port!
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (isListening) await once(server.close(), 'close')
  return isListening
}
