import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { repository } from './conditions.ts'
import type { Figures } from './figures.ts'
import {
  figuresFile,
  formatPage,
  pageFile,
  parseFigures,
  readRecordedFigures,
  writeFigures,
} from './recorded-figures.ts'

const figures: Figures = {
  ...{ date: '2026-11-27', commit: 'c8412a60af31' },
  ...{ machine: { processor: 'AMD EPYC', cores: 2, memoryGiB: 8 }, load: 0.2 },
  versions: { Tollgate: '0.1.0', Node: '24.1.0', lmdb: '3.5.6' },
  options: { rounds: 5, seconds: 3, customers: 100_000 },
  paths: [
    {
      ...{ name: 'single, keys', ceilingName: 'bare uWS', unit: 'request', failedRequests: 0 },
      perSecond: {
        ...{ ceiling: 104_000, ours: 48_500 },
        ratio: { median: 0.4663, min: 0.44, max: 0.4912 },
      },
      processorUs: {
        ...{ ceiling: 7.8, ours: 23.4 },
        ratio: { median: 3, min: 2.9, max: 3.125 },
      },
    },
    {
      ...{ name: 'management API: user-info', ceilingName: 'PostgreSQL' },
      ...{ unit: 'request', failedRequests: 3 },
      perSecond: { ceiling: 900, ours: 4, ratio: { median: 0.0044, min: 0.0044, max: 0.0044 } },
    },
  ],
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'figures-'))
  await mkdir(join(folder, 'docs'))
})
afterEach(() => rm(folder, { recursive: true }))

test('reads nothing before the first figures', async () => {
  expect(await readRecordedFigures(folder)).toEqual({})
})

test('reads what it wrote, and replaces only the figures of one kind', async () => {
  await writeFigures('embedded', figures, folder)
  expect(await readRecordedFigures(folder)).toEqual({ embedded: figures })
  await writeFigures('engines', figures, folder)
  const later = { ...figures, date: '2026-11-28' }
  await writeFigures('embedded', later, folder)
  const recorded = { embedded: later, engines: figures }
  expect(await readRecordedFigures(folder)).toEqual(recorded)
  expect(await readFile(join(folder, pageFile), 'utf8')).toBe(await formatPage(recorded))
})

test('records nothing if a load was too short to measure the processor time', async () => {
  const [path] = figures.paths
  const ratio = { median: Infinity, min: 3, max: Infinity }
  const unmeasured = { ...path!, processorUs: { ceiling: 0, ours: 23.4, ratio } }
  await expect(
    writeFigures('embedded', { ...figures, paths: [unmeasured] }, folder),
  ).rejects.toThrow('use more --seconds')
  expect(await readRecordedFigures(folder)).toEqual({})
})

test('shows conditions, processor times and throughput on the page', async () => {
  const page = await formatPage({ embedded: figures })
  const rows = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
  expect(rows).toContain('- Measured: 2026-11-27, commit c8412a60af31')
  expect(rows).toContain('- Machine: 2 x AMD EPYC, 8 GiB; load average before: 0.2')
  expect(rows).toContain('- Versions: Tollgate 0.1.0, Node 24.1.0, lmdb 3.5.6')
  expect(rows).toContain('- Options: rounds 5, seconds 3, customers 100000')
  expect(rows).toContain(
    '| single, keys | 7.80 | 23.40 | 3.00 (2.90 to 3.13) | request | bare uWS |',
  )
  expect(rows).toContain(
    '| single, keys | 104,000 | 48,500 | 0.47 (0.44 to 0.49) | request | bare uWS | 0 |',
  )
  expect(rows.filter((row) => row.includes('user-info'))).toEqual([
    '| management API: user-info | 900 | 4 | 0.0044 | request | PostgreSQL | 3 |',
  ])
  expect(page).toContain('`npm run bench -- --engines --write` records them.')
})

test.each([
  ['text that is no JSON', '<<<<<<< HEAD\n{}'],
  ['a list', '[]'],
  ['a kind that does not exist', JSON.stringify({ elsewhere: figures })],
  ['figures without conditions', JSON.stringify({ embedded: { paths: [] } })],
  ['figures without paths', JSON.stringify({ embedded: { ...figures, paths: undefined } })],
  [
    'a path without a ratio',
    JSON.stringify({ embedded: { ...figures, paths: [{ name: 'single' }] } }),
  ],
])('refuses %s', async (_, text) => {
  expect(() => parseFigures(text)).toThrow(`${figuresFile} is malformed. Restore it from Git`)
  await writeFile(join(folder, figuresFile), text)
  await expect(readRecordedFigures(folder)).rejects.toThrow('is malformed')
  await expect(writeFigures('engines', figures, folder)).rejects.toThrow('is malformed')
  expect(await readFile(join(folder, figuresFile), 'utf8')).toBe(text)
})

test('the page of this repository shows its recorded figures', async () => {
  // After a change of the page's text, `vitest -u` writes it again.
  const page = await formatPage(await readRecordedFigures())
  await expect(page).toMatchFileSnapshot(join(repository, pageFile))
})
