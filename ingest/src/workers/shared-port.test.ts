import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { reserveSharedPort, type SharedPort } from './shared-port.ts'

const host = '127.0.0.1'
const open: SharedPort[] = []

afterEach(async () => {
  for (const port of open.splice(0)) await port.close()
})

async function reserve(port: number): Promise<number> {
  const reserved = await reserveSharedPort(host, port)
  open.push(reserved)
  return reserved.port
}

async function listen(port: number): Promise<Server> {
  const server = createServer()
  await once(server.listen(port, host), 'listening')
  return server
}

// Only Linux has abstract sockets, and only there can an installation have several workers.
describe.skipIf(process.platform !== 'linux')('a shared port', () => {
  test('has one parent at a time', async () => {
    const port = await reserve(0)
    await expect(reserve(port)).rejects.toThrow(/in use.*TOLLGATE_PORT/)
    await open.pop()!.close()
    expect(await reserve(port)).toBe(port)
  })

  test('is refused while another process listens on it', async () => {
    const server = await listen(0)
    const { port } = server.address() as AddressInfo
    await expect(reserve(port)).rejects.toThrow(`Cannot listen on ${host}:${port}`)
    server.close()
    await once(server, 'close')
    expect(await reserve(port)).toBe(port)
  })

  test('has one parent of many that start at the same moment', async () => {
    const port = await reserve(0)
    await open.pop()!.close()
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => reserve(port)))
    // Attempts may also refuse each other, but never do two succeed.
    expect(attempts.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
    for (const each of open.splice(0)) await each.close()
    expect(await reserve(port)).toBe(port)
  })

  test('stays free for the workers to listen on', async () => {
    const server = await listen(await reserve(0))
    server.close()
    await once(server, 'close')
  })
})
