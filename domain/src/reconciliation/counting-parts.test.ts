import { expect, test } from 'vitest'
import { createRechecker } from './counting-parts.ts'

test('drops differences that disappear, and checks the others five times', async () => {
  const recheck = createRechecker(10, 0)
  const looks: (readonly string[])[] = []
  const standing = await recheck(['late', 'wrong'], async (suspects) => {
    looks.push(suspects)
    return suspects.filter((each) => each !== 'late')
  })
  expect(standing).toEqual(['wrong'])
  expect(looks).toEqual([['late', 'wrong'], ['wrong'], ['wrong'], ['wrong'], ['wrong']])
})

test('returns further differences unchecked once enough remain', async () => {
  const recheck = createRechecker(2, 0)
  let looks = 0
  const stay = async (suspects: readonly string[]): Promise<readonly string[]> => {
    looks += 1
    return suspects
  }
  expect(await recheck(['a'], stay)).toEqual(['a'])
  expect(await recheck(['b'], stay)).toEqual(['b'])
  expect(looks).toBe(10)
  expect(await recheck(['c', 'd'], stay)).toEqual(['c', 'd'])
  expect(looks).toBe(10)
})
