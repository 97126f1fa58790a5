import { readdir, readFile } from 'node:fs/promises'
import { errorCodes } from '@tollgate/schemas/http/error-codes'
import { expect, test } from 'vitest'
import { generatedPages } from '../src/pages/generated-pages.ts'

const root = new URL('../../', import.meta.url)

test.each(['cli.md', 'configuration.md', 'errors.md', 'events.md'])(
  'docs/%s is up to date (npm run docs writes it again)',
  async (name) => {
    const page = await readFile(new URL(`docs/${name}`, root), 'utf8')
    expect(page).toBe((await generatedPages())[name])
  },
)

test('docs/errors.md lists every error code, and each of them is sent somewhere', async () => {
  const page = await readFile(new URL('docs/errors.md', root), 'utf8')
  const documented = [...page.matchAll(/^\| `(\w+)` +\| .* \| .* \|$/gm)].map(([, code]) => code)
  expect(new Set(documented)).toEqual(new Set(Object.keys(errorCodes)))
  const sent = new Set<string>()
  for (const folder of ['control-plane/src', 'ingest/src', 'domain/src', 'schemas/src/http']) {
    for (const text of await sourcesIn(new URL(`${folder}/`, root))) {
      for (const [, word] of text.matchAll(/\b(\w+)(?:'|: `|: invalidKey)/g)) sent.add(word!)
    }
  }
  expect(Object.keys(errorCodes).filter((code) => !sent.has(code))).toEqual([])
})

/** Returns the source files, without tests, examples and the table of codes itself. */
async function sourcesIn(folder: URL): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.|error-codes|examples/.test(file),
  )
  return Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')))
}
