import { beforeEach, expect, test } from 'vitest'
import type { ServedServer } from './served-server.ts'
import { ServerDirectory } from './server-directory.ts'

let known: Set<string>
let loads: string[]
let lookups: (readonly string[])[]
let now: number
let isAway: boolean
let directory: ServerDirectory

beforeEach(() => {
  known = new Set(['acme'])
  loads = []
  lookups = []
  now = 1_000_000
  isAway = false
  const options = {
    clock: { now: () => now },
    freshMs: 2_000,
    staleMaxMs: 60_000,
    entriesMax: 50,
  }
  directory = new ServerDirectory(options, {
    load: async (_environment, subdomain) => {
      loads.push(subdomain)
      return known.has(subdomain) ? ({ subdomain } as ServedServer) : undefined
    },
    listKnown: async (_environment, subdomains) => {
      lookups.push(subdomains)
      await new Promise(setImmediate)
      if (isAway) throw new Error('away')
      return new Set(subdomains.filter((each) => known.has(each)))
    },
  })
})

const get = (subdomain: string) => directory.get('live', subdomain)

test('looks up thousands of unknown subdomains in batches, and evicts no server for them', async () => {
  expect(await get('acme')).toEqual({ subdomain: 'acme' })
  const names = Array.from({ length: 5_000 }, (_, number) => `random-${number}`)
  const found = await Promise.all(names.map(get))
  expect(new Set(found)).toEqual(new Set([undefined]))
  // The first lookup is sent alone. The others wait for it and are sent in batches.
  expect(lookups.length).toBeLessThanOrEqual(7)
  expect(await get('acme')).toEqual({ subdomain: 'acme' })
  expect(loads).toEqual(['acme'])
})

test('looks up an unknown subdomain once per interval, and finds it once it has a server', async () => {
  for (let request = 0; request < 10; request++) expect(await get('later')).toBeUndefined()
  expect(lookups).toEqual([['later']])
  known.add('later')
  now += 1_999
  expect(await get('later')).toBeUndefined()
  now += 1
  expect(await get('later')).toEqual({ subdomain: 'later' })
  expect(lookups).toEqual([['later'], ['later']])
})

test('rejects if the lookup fails, and retries at the next request', async () => {
  isAway = true
  await expect(get('acme')).rejects.toThrow('away')
  isAway = false
  expect(await get('acme')).toEqual({ subdomain: 'acme' })
})

test('refuses further subdomains while too many are waiting', async () => {
  const asked = Array.from({ length: 11_000 }, (_, number) => get(`random-${number}`))
  const ends = await Promise.allSettled(asked)
  const refused = ends.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(900)
  expect(refused.length).toBeLessThan(1_100)
})
