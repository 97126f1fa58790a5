import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { unlessAborted } from './unless-aborted.ts'

const reason = new Error('aborted')

test('settles like the work, and leaves no listener behind', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1)
  await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('rejects when the signal aborts, although the work continues', async () => {
  const controller = new AbortController()
  const waiting = unlessAborted(new Promise<never>(() => undefined), controller.signal)
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
})

test('rejects at once if the signal has aborted before', async () => {
  await expect(unlessAborted(Promise.resolve(1), AbortSignal.abort(reason))).rejects.toBe(reason)
})
