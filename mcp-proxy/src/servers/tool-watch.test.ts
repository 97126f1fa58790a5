import { createLogger } from '@tollgate/platform/observability/logger'
import { beforeEach, expect, test } from 'vitest'
import type { ServedServer } from './served-server.ts'
import { ToolWatch } from './tool-watch.ts'

const server = {
  environment: 'sandbox',
  reference: 'mcp_1',
  productRef: 'prd_1',
  tools: new Map([
    ['a', { access: 'public', planRefs: [] }],
    ['b', { access: 'public', planRefs: [] }],
    ['gone', { access: 'public', planRefs: [], hasVanished: true }],
  ]),
} as unknown as ServedServer

let requests: number
let body: object
let status: number
let now: number
let watch: ToolWatch

beforeEach(() => {
  requests = 0
  body = { added: ['c'], removed: [] }
  now = 1_000_000
  status = 200
  watch = new ToolWatch({
    discover: async () => {
      requests += 1
      return { kind: 'replied', status, body }
    },
    pauseMs: 1_000,
    clock: { now: () => now },
    logger: createLogger('test', 'silent'),
  })
})

const named = (...names: string[]) => names.map((name) => ({ name }))

test.each([
  ['the known tools', named('b', 'a'), true, 0],
  ['a new tool', named('a', 'b', 'c'), true, 1],
  ['a tool that has come back', named('a', 'b', 'gone'), true, 1],
  ['a missing tool', named('a'), true, 1],
  ['a page without some tools', named('a'), false, 0],
  ['a page with a new tool', named('c'), false, 1],
  ["a tool with the name of one of the proxy's", named('a', 'b', 'upgrade'), true, 0],
])('%s', (_name, tools, isWhole, expected) => {
  watch.onListed(server, tools, isWhole)
  expect(requests).toBe(expected)
})

test('discovers tools once per interval, and less often while nothing changes', async () => {
  const list = async (): Promise<number> => {
    watch.onListed(server, named('a'), true)
    await new Promise(setImmediate)
    return requests
  }
  expect([await list(), await list()]).toEqual([1, 1])
  now += 1_000
  body = { added: [], removed: [] }
  expect(await list()).toBe(2)
  now += 1_000
  expect(await list()).toBe(2)
  now += 1_000
  expect(await list()).toBe(3)
  now += 3_999
  expect(await list()).toBe(3)
  now += 1
  expect(await list()).toBe(4)
})

test('retries a failed discovery after the same interval', async () => {
  status = 502
  for (let pauses = 1; pauses <= 3; pauses++) {
    watch.onListed(server, named('a'), true)
    await new Promise(setImmediate)
    expect(requests).toBe(pauses)
    now += 1_000
  }
})
