import { expect, test } from 'vitest'
import { Sealer } from '../sealing/sealer.ts'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { ServedServer } from '../servers/served-server.ts'
import { isSessionOf, readSession, sealSession, type SessionState } from './session-state.ts'

const sealer = new Sealer('a secret of the installation')

const plain = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: {} }

const initializedWith = (initialize: JsonObject) => ({
  initialize,
  initializeText: JSON.stringify(initialize),
})

const state: SessionState = {
  environment: 'live',
  server: 'mcp_1',
  customerRef: 'cus_1',
  originSession: 'origin',
  version: '2025-11-25',
  process: 'process',
  ...initializedWith(plain),
  expiresAtMs: 1_000,
}

/** Returns text that does not compress. */
const noise = (chars: number): string =>
  Array.from({ length: chars }, () => Math.random().toString(36)[2]).join('')

test('restores a session from its id only with the same secret', () => {
  const id = sealSession(sealer, state)!
  expect(readSession(sealer, id)).toEqual(state)
  expect(readSession(new Sealer('another secret'), id)).toBeUndefined()
  expect(readSession(sealer, sealer.seal('request-state', ['live', 'mcp_1'])!)).toBeUndefined()
  for (const text of ['', 'x', id.slice(1), `${id}AAAA`, noise(5_000)]) {
    expect(readSession(sealer, text)).toBeUndefined()
  }
})

test.each([
  [{}, true],
  [{ environment: 'sandbox' }, false],
  [{ server: 'mcp_2' }, false],
  [{ customerRef: 'cus_2' }, false],
  [{ expiresAtMs: 500 }, false],
])('with %j, belongs to the customer of the request: %s', (changes, expected) => {
  const server = { environment: 'live', reference: 'mcp_1' } as ServedServer
  expect(isSessionOf({ ...state, ...changes }, server, 'cus_1', 500)).toBe(expected)
})

test('keeps an id short by storing only the capabilities of a verbose client', () => {
  const capabilities = { elicitation: { url: {} } }
  const clientInfo = { name: 'client', version: '1', icons: [{ src: noise(6_000) }] }
  const initialize = { protocolVersion: '2025-11-25', capabilities, clientInfo }
  const id = sealSession(sealer, { ...state, ...initializedWith(initialize) })!
  expect(id.length).toBeLessThanOrEqual(4_096)
  expect(readSession(sealer, id)!.initialize).toEqual({
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'client', version: '1' },
  })
  const talkative = { ...initialize, capabilities: { experimental: noise(6_000) } }
  expect(sealSession(sealer, { ...state, ...initializedWith(talkative) })).toBeUndefined()
  // Zeros compress well but use their full length in memory.
  const padded = { ...initialize, capabilities: { experimental: '0'.repeat(60_000) } }
  expect(sealSession(sealer, { ...state, ...initializedWith(padded) })).toBeUndefined()
})
