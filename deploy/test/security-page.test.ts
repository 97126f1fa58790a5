import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const page = await readFile(new URL('SECURITY.md', root), 'utf8')
/** The tests named in the table of SECURITY.md, as `file: title`. */
const named = [...page.matchAll(/`([\w/.-]+\.test\.ts): ([^`]+)`/g)].map(
  ([, file, title]) => [file!, title!] as const,
)

test.each(named)('SECURITY.md names a test that exists: %s: %s', async (file, title) => {
  const url = new URL(file, root)
  expect(existsSync(fileURLToPath(url))).toBe(true)
  const source = await readFile(url, 'utf8')
  const titles = [`'${title}'`, `"${title}"`, `\`${title}\``]
  expect(titles.some((each) => source.includes(each))).toBe(true)
})

test('SECURITY.md names a test in every row of its table', () => {
  const rows = page
    .slice(page.indexOf('## Who may do what'))
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
  expect(rows.length).toBeGreaterThan(15)
  expect(rows.filter((row) => !row.includes('.test.ts: '))).toEqual([])
})
