import { expect, test } from 'vitest'
import { openOwned } from './open-owned.ts'

function part(name: string, closed: string[]) {
  return { name, close: async () => void closed.push(name) }
}

test('closes what was opened here, the last first, once, and nothing that was passed in', async () => {
  const closed: string[] = []
  const given = part('given', closed)
  const parts = await openOwned(async (own) => ({
    given,
    first: await own(part('first', closed)),
    second: await own(Promise.resolve(part('second', closed))),
  }))
  await parts.close()
  await parts.close()
  expect(closed).toEqual(['second', 'first'])
})

test('closes those before the one that cannot be opened, and throws its reason', async () => {
  const closed: string[] = []
  const opening = openOwned(async (own) => {
    await own(part('first', closed))
    await own(Promise.reject<ReturnType<typeof part>>(new Error('no disk')))
    return {}
  })
  await expect(opening).rejects.toThrow('no disk')
  expect(closed).toEqual(['first'])
})
