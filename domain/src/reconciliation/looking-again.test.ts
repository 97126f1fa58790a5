import { expect, test } from 'vitest'
import { lookingAgain } from './counting-parts.ts'

test('what comes to agree is not returned, and what does not is looked at five times', async () => {
  const lookAgain = lookingAgain(10, 0)
  const looks: (readonly string[])[] = []
  const standing = await lookAgain(['late', 'wrong'], async (suspects) => {
    looks.push(suspects)
    return suspects.filter((each) => each !== 'late')
  })
  expect(standing).toEqual(['wrong'])
  expect(looks).toEqual([['late', 'wrong'], ['wrong'], ['wrong'], ['wrong'], ['wrong']])
})

test('once so many stand, the rest is returned as it was seen', async () => {
  const lookAgain = lookingAgain(2, 0)
  let looks = 0
  const stay = async (suspects: readonly string[]): Promise<readonly string[]> => {
    looks += 1
    return suspects
  }
  expect(await lookAgain(['a'], stay)).toEqual(['a'])
  expect(await lookAgain(['b'], stay)).toEqual(['b'])
  expect(looks).toBe(10)
  expect(await lookAgain(['c', 'd'], stay)).toEqual(['c', 'd'])
  expect(looks).toBe(10)
})
