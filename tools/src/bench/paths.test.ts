import { expect, test } from 'vitest'
import { limitPaths, usagePaths } from './paths.ts'

test('measures usage of known and unknown customers, with and without keys', () => {
  const suffixes = ['', ', unknown customers', ', keys', ', unknown customers, keys']
  const loads = ['single, 256 connections', 'single, 64 connections', 'bulk of 100']
  expect(usagePaths().map(({ name }) => name)).toEqual(
    suffixes.flatMap((suffix) => loads.map((load) => `${load}${suffix}`)),
  )
})

test('names each path differently, because figures are compared by name', () => {
  const paths = [...usagePaths(), ...usagePaths('ingest alone: '), ...limitPaths]
  expect(new Set(paths.map(({ name }) => name)).size).toBe(paths.length)
})
