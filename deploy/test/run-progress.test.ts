import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RunProgress } from './run-progress.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-progress-'))
  path = join(folder, 'new', 'run.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (suite = 'sequences') => RunProgress.openAt(path, suite, 300)

it('continues with the seeds that have not passed', () => {
  const first = open()
  const seeds = [0, 100, 200].map((from) => first.firstSeed + from)
  first.end(seeds[0]!, 100, true)
  first.end(seeds[1]!, 100, false)
  const second = open()
  expect(second.firstSeed).toBe(first.firstSeed)
  expect(seeds.map((seed) => second.hasPassed(seed, 100))).toEqual([true, false, false])
  second.end(seeds[1]!, 100, true)
  expect(open().passedCases).toBe(200)
})

it('counts a seed once, with the most cases that passed', () => {
  const progress = open()
  progress.end(7, 50, true)
  progress.end(7, 50, true)
  expect(progress.hasPassed(7, 100)).toBe(false)
  progress.end(7, 100, true)
  progress.end(7, 50, true)
  expect([progress.passedCases, open().passedCases]).toEqual([100, 100])
  expect(readFileSync(path, 'utf8').match(/passed/g)).toHaveLength(2)
})

it('begins with the seed of the process that was first', () => {
  const first = open()
  const second = open()
  first.end(7, 100, true)
  expect(second.firstSeed).toBe(first.firstSeed)
  second.end(8, 100, true)
  expect(second.hasPassed(7, 100)).toBe(true)
  appendFileSync(path, `\n{"suite":"sequences","firstSeed":${first.firstSeed + 1}}`)
  expect(open().firstSeed).toBe(first.firstSeed)
})

it('ignores a line that a killed process has not completed', () => {
  open().end(7, 100, true)
  appendFileSync(path, '\n{"suite":"sequences","passed":8,"ca')
  const progress = open()
  expect(progress.hasPassed(8, 100)).toBe(false)
  progress.end(8, 100, true)
  expect(open().passedCases).toBe(200)
})

it('keeps suites apart that share a file', () => {
  open().end(7, 100, true)
  const stories = open('stories')
  expect(stories.hasPassed(7, 25)).toBe(false)
  stories.end(7, 25, true)
  expect([open().passedCases, open('stories').passedCases]).toEqual([100, 25])
})
