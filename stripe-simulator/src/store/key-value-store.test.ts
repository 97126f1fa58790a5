import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryStore, type Order } from './key-value-store.ts'
import { LmdbKeyValueStore } from './lmdb-key-value-store.ts'

const key = fc.constantFrom('a', 'a/1', 'a/10', 'a/2', 'ab/1', 'b/1', 'c')
const changes = fc.dictionary(key, fc.constantFrom(undefined, 'one', 'two'))
const reads = fc.record({
  prefix: fc.constantFrom('a/', 'b/', 'd/'),
  order: fc.constantFrom<Order>('ascending', 'descending'),
  past: fc.option(key, { nil: undefined }),
})

test('keeps in memory what it keeps in a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-store-'))
  const stored = await LmdbKeyValueStore.open(folder)
  const inMemory = new MemoryStore()
  try {
    fc.assert(
      fc.property(changes, reads, (changed, { prefix, order, past }) => {
        // A reader continues after a key that it has read, which begins with the prefix.
        const from = past?.startsWith(prefix) === true ? past : undefined
        for (const store of [stored, inMemory]) store.commit(new Map(Object.entries(changed)))
        expect([...inMemory.range(prefix, order, from)]).toEqual([
          ...stored.range(prefix, order, from),
        ])
      }),
      { numRuns: 2_000 },
    )
  } finally {
    await stored.close()
    await rm(folder, { recursive: true, force: true })
  }
})

test('leaves out a key that is removed while a range is read', () => {
  const store = new MemoryStore()
  store.commit(new Map(['a/1', 'a/2', 'a/3'].map((name) => [name, 'value'])))
  const read: string[] = []
  for (const [name] of store.range('a/', 'ascending')) {
    read.push(name)
    store.commit(new Map([['a/2', undefined]]))
  }
  expect(read).toEqual(['a/1', 'a/3'])
})
