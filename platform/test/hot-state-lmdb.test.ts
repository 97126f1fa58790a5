import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { describeHotState } from '../src/testing/hot-state-contract.ts'
import { at, request } from '../src/testing/reserved-place.ts'

describeHotState('lmdb', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hot-state-'))
  // One minute, so that publications take several steps.
  const open = () => openLmdbHotState({ folder, role: 'projection', foldedMinutesMax: 1 })
  let hot = await open()
  return {
    get hot() {
      return hot
    },
    lose: async () => {
      await hot.close()
      await rm(folder, { recursive: true, force: true })
      hot = await open()
    },
    openReader: () => openLmdbHotState({ folder, role: 'reader' }),
    destroy: async () => {
      await hot.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
})

it('has another incarnation in another folder, and keeps its own', async () => {
  const incarnations: string[] = []
  for (const folder of [
    await mkdtemp(join(tmpdir(), 'hot-state-')),
    await mkdtemp(join(tmpdir(), 'hot-state-')),
  ]) {
    for (const role of ['publisher', 'projection'] as const) {
      const hot = await openLmdbHotState({ folder, role })
      incarnations.push(await hot.incarnation())
      await hot.close()
    }
    await rm(folder, { recursive: true, force: true })
  }
  const [first, again, other, otherAgain] = incarnations
  expect([again, otherAgain]).toEqual([first, other])
  expect(other).not.toBe(first)
})

it('waits for counters again after it was reopened, because a power failure may lose the last writes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hot-state-'))
  const open = () => openLmdbHotState({ folder, role: 'publisher' })
  const ahead = { document: undefined, minOffset: 10, isReservedFirst: true }
  const query = { at, series: 'calls', windowId: 'w', minOffset: 10 }
  for (const id of ['a', 'b']) {
    const hot = await open()
    expect(await hot.reserve(request(id, ahead))).toEqual({ kind: 'behind' })
    expect(await hot.readTaken(query)).toEqual({ kind: 'behind' })
    expect(await hot.reserve(request(id, { ...ahead, minOffset: 0 }))).toMatchObject({
      kind: 'admitted',
    })
    expect(await hot.reserve(request(`${id} again`, ahead))).toMatchObject({ kind: 'admitted' })
    expect(await hot.readTaken(query)).toMatchObject({ kind: 'taken' })
    await hot.close()
  }
  await rm(folder, { recursive: true, force: true })
})

it('rolls back a batch whose last part cannot be stored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hot-state-'))
  const hot = await openLmdbHotState({ folder, role: 'projection' })
  const at = { space: 'live', partition: 0, subject: 's', scope: 'a' }
  const windows = [{ id: 'w', fromSecond: 0, toSecond: 100 }]
  await hot.putEntry(at, { version: 1, document: '{}', windows })
  const impossible = hot.apply({
    space: 'live',
    partition: 0,
    expectedOffset: 0,
    nextOffset: 2 ** 50,
    marks: [{ id: 'i', offset: 0, receivedAtMs: 1 }],
    increments: [{ subject: 's', scope: 'a', series: 'calls', second: 1, amount: 1n }],
  })
  await expect(impossible).rejects.toThrow(RangeError)
  expect((await hot.readEntry(at, 'calls')).amounts.size).toBe(0)
  expect(await hot.readMarks('live', 0, ['i'])).toEqual([undefined])
  expect(await hot.appliedOffset('live', 0)).toBe(0)
  await hot.close()
  await rm(folder, { recursive: true, force: true })
})

it('shows a reader each change in the next turn of the event loop', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hot-state-'))
  const publisher = await openLmdbHotState({ folder, role: 'publisher' })
  const reader = await openLmdbHotState({ folder, role: 'reader' })
  const at = { space: 'live', partition: 0, subject: 's', scope: 'a' }
  for (let version = 1; version <= 50; version++) {
    // The reader has already read in this turn, so it keeps its snapshot.
    await reader.readEntryDocument(at)
    await publisher.putEntry(at, { version, document: `{"version":${version}}`, windows: [] })
    await nextTurn()
    expect(await reader.readEntryDocument(at)).toBe(`{"version":${version}}`)
    expect((await reader.readEntry(at, 'calls')).document).toBe(`{"version":${version}}`)
  }
  await publisher.deleteEntry(at)
  await nextTurn()
  expect(await reader.readEntryDocument(at)).toBeUndefined()
  await reader.close()
  await publisher.close()
  await rm(folder, { recursive: true, force: true })
})

it('answers a request with a publication that preceded it, whatever a timer has read before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hot-state-'))
  const source = fileURLToPath(new URL('../src/hot-state/lmdb/lmdb-hot-state.ts', import.meta.url))
  const script = `
    const { openLmdbHotState } = await import(${JSON.stringify(source)})
    const hot = await openLmdbHotState({ folder: ${JSON.stringify(folder)}, role: 'publisher' })
    process.on('message', async ({ at, version }) => {
      await hot.putEntry(at, { version, document: String(version), windows: [] })
      process.send('published')
    })
    process.on('disconnect', () => hot.close())
    process.send('ready')`
  const publisher = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  await once(publisher, 'message')
  const reader = await openLmdbHotState({ folder, role: 'reader' })
  const at = { space: 'live', partition: 0, subject: 's', scope: 'a' }
  const stand = new Int32Array(new SharedArrayBuffer(4))
  for (let version = 1; version <= 3; version += 1) {
    const answered = once(publisher, 'message').then(() => reader.readEntryDocument(at))
    setTimeout(() => {
      void reader.appliedOffset('live', 0)
      publisher.send({ at, version })
      // While this process is suspended, the other one publishes and its client sends a request.
      Atomics.wait(stand, 0, 0, 300)
    }, 1)
    expect(await answered).toBe(String(version))
  }
  publisher.disconnect()
  await once(publisher, 'exit')
  await reader.close()
  await rm(folder, { recursive: true, force: true })
})
