import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { findFreePort, host, requireFreePort } from './ports.ts'

test('names the setting when a port is taken, and accepts it once it is free', async () => {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await expect(requireFreePort(port, 'TOLLGATE_PORT')).rejects.toThrow(
    `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with TOLLGATE_PORT.`,
  )
  server.close()
  await once(server, 'close')
  await requireFreePort(port, 'TOLLGATE_PORT')
})

test('returns every port once', async () => {
  const taken = new Set<number>()
  const ports = await Promise.all(Array.from({ length: 50 }, () => findFreePort(taken)))
  expect(new Set(ports).size).toBe(50)
})
